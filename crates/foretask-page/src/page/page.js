"use strict";
// The page of `foretask report`. Everything shown is in the data block, which is what `foretask forecast --json`
// prints, or is computed from it by one of these, which browser/ compares with the command line:
//
//   percent, span, signed   numbers as the command line writes them
//   interval                where a share lies that was seen in some samples (Beta quantiles)
//   recount                 a forecast for other priors, costs and thresholds, from samples left out
//
// Names come from files: they become text nodes and nothing else.
const foretask = (() => {
  // ---------------------------------------------------------------- numbers as people read them
  const percent = (share) => {
    if (share === null || share === undefined || !Number.isFinite(share)) return "unknown";
    const decimals = Math.abs(100 * share) < 0.995 && share !== 0 ? 2 : 1;
    return (100 * share).toFixed(decimals) + " %";
  };
  const span = (ends) => (ends ? percent(ends[0]).replace(" %", "") + " to " + percent(ends[1]) : "");
  const signed = (difference) => {
    const text = (100 * difference).toFixed(1);
    return text === "-0.0" ? "+0.0" : difference >= 0 && !text.startsWith("-") ? "+" + text : text;
  };
  const plain = (x) => (x === null || x === undefined || !Number.isFinite(x) ? "unknown" : Number(x.toPrecision(4)).toString());
  const count = (n, noun) => n + " " + (n === 1 ? noun : noun === "class" ? "classes" : noun + "s");

  // ---------------------------------------------------------------- names
  const LONGEST = 60;
  const printable = (name) =>
    String(name).replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, (letter) =>
      ({ "\n": "\\n", "\r": "\\r", "\t": "\\t" })[letter] || "\\u{" + letter.codePointAt(0).toString(16) + "}");
  const cut = (name, most = LONGEST) => {
    const letters = Array.from(printable(name).slice(0, 8 * most));
    return letters.length > most ? letters.slice(0, most - 1).join("") + "…" : letters.join("");
  };
  const quoted = (word) =>
    /^[\p{L}\p{N}_\-./,=+:@%]+$/u.test(word) ? word : "'" + printable(word.replaceAll("'", "'\\''")) + "'";

  // ---------------------------------------------------------------- the Beta law
  const LANCZOS = [0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  const lnGamma = (x) => {
    if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - lnGamma(1 - x);
    const y = x - 1, t = y + 7.5;
    let sum = LANCZOS[0];
    for (let i = 1; i < 9; i++) sum += LANCZOS[i] / (y + i);
    return 0.5 * Math.log(2 * Math.PI) + (y + 0.5) * Math.log(t) - t + Math.log(sum);
  };
  // Lentz's continued fraction of the incomplete beta function.
  const fraction = (x, a, b) => {
    const tiny = 1e-300;
    let c = 1, d = 1 - ((a + b) * x) / (a + 1);
    d = 1 / (Math.abs(d) < tiny ? tiny : d);
    let h = d;
    for (let m = 1; m <= 500; m++) {
      const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
      for (const step of [even, odd]) {
        d = 1 + step * d;
        d = 1 / (Math.abs(d) < tiny ? tiny : d);
        c = 1 + step / c;
        if (Math.abs(c) < tiny) c = tiny;
        h *= d * c;
      }
      if (Math.abs(d * c - 1) < 1e-15) break;
    }
    return h;
  };
  const betaCdf = (x, a, b) => {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    const front = Math.exp(lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
    return x < (a + 1) / (a + b + 2) ? (front * fraction(x, a, b)) / a : 1 - (front * fraction(1 - x, b, a)) / b;
  };
  const betaQuantile = (p, a, b) => {
    let low = 0, high = 1;
    for (let i = 0; i < 80; i++) {
      const middle = 0.5 * (low + high);
      if (betaCdf(middle, a, b) < p) low = middle; else high = middle;
    }
    return 0.5 * (low + high);
  };
  const INFLATION = 1.25;
  const interval = (share, samples) => {
    const v = Math.min(1, Math.max(0, share));
    const a = (samples * v) / INFLATION + 0.5, b = (samples * (1 - v)) / INFLATION + 0.5;
    return [Math.min(betaQuantile(0.05, a, b), v), Math.max(betaQuantile(0.95, a, b), v)];
  };

  // ---------------------------------------------------------------- a forecast, counted again
  const sum = (values) => values.reduce((total, x) => total + x, 0);
  const weighted = (weights, values) => values.reduce((total, x, c) => total + weights[c] * x, 0);
  const errorsOf = (confusion) => confusion.map((row, c) => row.reduce((total, x, d) => (c === d ? total : total + x), 0));
  const doubles = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Float64Array(bytes.buffer);
  };
  /** The scores of each sample; of two classes the difference is kept, which is all that counts. */
  const unpacked = (raw) => {
    const m = raw.shares.length;
    const partition = (of) => {
      const flat = doubles(of.scores);
      const scores = raw.class.map((_, l) =>
        m === 2 ? [flat[l], 0] : Array.from(flat.subarray(l * m, (l + 1) * m)));
      return { scores, fold: of.fold, calibrations: of.calibrations };
    };
    return { ...raw, partitions: raw.partitions.map(partition), half: raw.half && partition(raw.half) };
  };
  const softmax = (logits) => {
    const most = Math.max(...logits);
    const shares = logits.map((x) => Math.exp(x - most));
    const total = sum(shares);
    return shares.map((x) => x / total);
  };
  const normalised = (rows, totals) =>
    rows.map((row, c) => row.map((x, d) => (totals[c] > 0 ? x / totals[c] : c === d ? 1 : 0)));
  const TWIN_BIAS = 0.2;
  const smoothShare = (counted, smooth, samples) => {
    const v = (counted * samples + 0.5) / (samples + 1);
    const variance = (v * (1 - v)) / samples;
    const beyond = Math.max(0, (smooth - counted) ** 2 - variance);
    return Math.min(0.5, variance / (variance + (TWIN_BIAS * v) ** 2 + beyond));
  };
  const zeros = (m) => Array.from({ length: m }, () => new Array(m).fill(0));
  /** The confusion, error and interval that `foretask forecast --no-rehearsal --prior … --cost …` foretells. */
  const recount = (of, priors, costs) => {
    const m = of.shares.length, n = of.class.length;
    const shift = priors.map((prior, c) => Math.log(prior / of.shares[c]));
    const lnCost = costs.map(Math.log);
    const weight = (l) => (of.weight ? of.weight[l] : 1);
    const { slope, twin, offsets } = of.calibration;
    /** The class of each sample, or those that nothing tells apart, with their shares. */
    const decide = (partition, l) => {
      const fold = partition.fold[l];
      const [a, ...b] = fold === null ? [slope, ...offsets] : partition.calibrations[fold];
      const margins = partition.scores[l].map((s, c) => a * s + (b[c] + shift[c]) + lnCost[c]);
      const most = Math.max(...margins);
      const equal = margins.flatMap((margin, c) => (margin === most ? [c] : []));
      return new Map(equal.map((c) => [c, 1 / equal.length]));
    };
    const decided = of.partitions.map((partition) => of.class.map((_, l) => decide(partition, l)));
    let effective = 1 / sum(priors.map((prior, c) => prior ** 2 / of.worth[c]));
    if (of.group) {
      // How much less the samples tell because they come in groups.
      const size = n / of.independent;
      const u = of.class.map((c) => priors[c] / of.shares[c]);
      const wrong = of.class.map((c, l) => sum(decided.map((own) => 1 - (own[l].get(c) || 0))) / decided.length);
      const v = Math.min(1, Math.max(0, (weighted(u, wrong) + 0.5 * size) / (n + size)));
      const groups = new Map();
      of.group.forEach((g, l) => groups.set(g, (groups.get(g) || 0) + u[l] * (wrong[l] - v)));
      const between = sum([...groups.values()].map((x) => x * x)) + 0.5 * size * size * ((1 - v) ** 2 + v * v);
      const alone = (sum(u.map((x) => x * x)) + size) * v * (1 - v);
      effective /= Math.min(size, Math.max(1, between / Math.max(alone, 1e-300)));
    }
    const errorOf = (confusion) => weighted(priors, errorsOf(confusion));
    const confusionOf = (partitions, decisions) => {
      const decidedAs = zeros(m), smooth = zeros(m), total = new Array(m).fill(0), mass = new Array(m).fill(0);
      partitions.forEach((partition, p) => of.class.forEach((c, l) => {
        const taken = decisions[p][l], own = weight(l);
        total[c] += own;
        taken.forEach((share, d) => { decidedAs[c][d] += own * share; });
        softmax(partition.scores[l].map((s, k) => twin * s + offsets[k])).forEach((q, k) => {
          mass[k] += own * q;
          taken.forEach((share, d) => { smooth[k][d] += own * q * share; });
        });
      }));
      const counted = normalised(decidedAs, total), other = normalised(smooth, mass);
      const share = smoothShare(errorOf(counted), errorOf(other), effective);
      return counted.map((row, c) => row.map((x, d) => (1 - share) * x + share * other[c][d]));
    };
    const confusion = confusionOf(of.partitions, decided);
    if (of.half) {
      // Rules of a share of the samples, and rules of half of them: on to a rule of all.
      const error = errorOf(confusion);
      const half = errorOf(confusionOf([of.half], [of.class.map((_, l) => decide(of.half, l))]));
      let all = error;
      if (of.kept > 0.5) {
        const ratio = (1 / of.kept - 1) / (2 - 1 / of.kept);
        all = Math.min(Math.max(error - (half - error) * ratio, 0.5 * error), Math.max(error, half));
      }
      const factor = all / Math.max(error, 1e-300);
      confusion.forEach((row, c) => {
        row.forEach((x, d) => { if (c !== d) row[d] = x * factor; });
        const wrong = row.reduce((total, x, d) => (c === d ? total : total + x), 0);
        if (wrong > 1) row.forEach((x, d) => { row[d] = x / wrong; });
        row[c] = Math.max(0, 1 - wrong);
      });
    }
    const classErrors = errorsOf(confusion);
    const error = weighted(priors, classErrors);
    return { confusion, classErrors, error, interval: interval(error, effective) };
  };
  /** The threshold of two classes for these stakes, and the cost of the first class at which another is the best. */
  const bestThreshold = (of, priors, costs) => {
    const { slope, offsets } = of.calibration;
    const shift = Math.log(priors[0] / of.shares[0]) - Math.log(priors[1] / of.shares[1]);
    return (offsets[1] - offsets[0]) / slope - (shift + Math.log(costs[0] / costs[1])) / slope;
  };
  const costAt = (of, priors, threshold) => {
    const { slope, offsets } = of.calibration;
    const shift = Math.log(priors[0] / of.shares[0]) - Math.log(priors[1] / of.shares[1]);
    return Math.exp(offsets[1] - offsets[0] - slope * threshold - shift);
  };

  return { percent, span, signed, plain, count, printable, cut, quoted, interval, unpacked, recount, bestThreshold, costAt, weighted };
})();

(() => {
  const { percent, span, signed, plain, count, printable, cut, quoted, weighted } = foretask;
  const D = JSON.parse(document.getElementById("data").textContent);
  const R = D.report || {};
  const F = D.forecast, classes = D.classes, m = classes.length;
  const listOf = (byClass) => classes.map((name) => byClass[name]);
  const alarm = F.alarm;
  const aimName = alarm ? "share missed" : "error";
  // Long lists are shown to here, and the rest on demand.
  const SHOWN = 12;

  // ---------------------------------------------------------------- building blocks
  const fill = (node, children) => {
    for (const child of children.flat(Infinity)) {
      if (child === null || child === undefined || child === false) continue;
      node.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
    return node;
  };
  const set = (node, attributes) => {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else node.setAttribute(name, value === true ? "" : String(value));
    }
    return node;
  };
  const el = (tag, attributes, ...children) => fill(set(document.createElement(tag), attributes), children);
  const svg = (tag, attributes, ...children) => fill(set(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes), children);
  const p = (text, kind) => el("p", { class: kind }, text);
  const named = (name, most) => el("span", { title: printable(name).slice(0, 400) }, cut(name, most));
  const section = (id) => document.getElementById(id);
  const table = (caption, heads, rows, kind) => el("table", { class: kind },
    caption && el("caption", null, caption),
    el("thead", null, el("tr", null, heads.map(([text, own]) => el("th", { scope: "col", class: own }, text)))),
    el("tbody", null, rows.map((cells) => el("tr", null, cells.map((cell, i) => {
      const own = heads[i] && heads[i][1];
      return i === 0 ? el("th", { scope: "row", class: own }, cell) : el("td", { class: own }, cell);
    })))));
  const scrolled = (what, ...children) => el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": what }, children);
  /** A table of which the first rows are shown, and all on demand. */
  const long = (caption, heads, rows, kind, what) => {
    if (rows.length <= SHOWN) return [table(caption, heads, rows.map((row) => row()), kind)];
    const all = el("details", null, el("summary", null, rows.length - SHOWN + " more " + what));
    all.addEventListener("toggle", () => {
      if (all.open && all.children.length === 1) all.append(table(null, heads, rows.slice(SHOWN).map((row) => row()), kind));
    });
    return [table(caption, heads, rows.slice(0, SHOWN).map((row) => row()), kind), all];
  };
  const figures = (entries) => el("dl", { class: "figures" }, entries.filter(Boolean).map(([name, value, more]) =>
    el("div", null, el("dt", null, name), el("dd", null, value, more && el("small", null, more)))));
  const ticks = (low, high, most) => {
    const raw = (high - low) / most, unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((x) => x * unit).find((x) => x >= raw);
    const found = [];
    for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) found.push(Number(x.toPrecision(12)));
    return found;
  };
  const drawings = [];
  /** A drawing that is made again when its width changes. */
  const drawn = (box, draw) => {
    const again = () => { const width = Math.round(box.clientWidth) || 600; box.replaceChildren(draw(Math.max(260, Math.min(width, 900)))); };
    drawings.push(again);
    return again;
  };
  let waiting = 0;
  window.addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawings.forEach((again) => again()));
  });

  // ---------------------------------------------------------------- the head and the verdict
  document.title = "foretask: " + cut(D.target, 60);
  section("title").replaceChildren("What to expect of ", named(D.target, 80));
  const sourcesCount = D.tasks.length - 1;
  const all = D.tasks.reduce((total, task) => total + task.counts.reduce((a, b) => a + b, 0), 0);
  section("subtitle").textContent =
    count(F.samples, "labelled sample") + " of the target, " + count(m, "class") + ", " +
    (sourcesCount ? count(sourcesCount, "source") : "no sources") + ", " + count(D.features, "feature") + "; " + count(all, "sample") + " in all";
  const rehearsed = F.rehearsal && F.rehearsal.done;
  {
    const lines = D.verdict.map((line) => el("li", null, cut(line.text, 400)));
    section("verdict").append(el("ol", { class: "verdict" }, lines));
    if (!F.told) section("verdict").append(p("No error can be foretold here: no sample of some class can be left out. Label at least two of each class, and ask again.", "notice"));
    else section("verdict").append(figures([
      alarm && ["detected", percent(alarm.detection), span(alarm.detection_interval)],
      alarm && ["false alarms", percent(alarm.false_alarm), span(alarm.false_alarm_interval)],
      ["expected error", percent(F.error), "90 %: " + span(F.interval)],
      rehearsed && [(alarm ? "missed, " : "") + "by its own samples", percent(rehearsed.own_error), "90 %: " + span(rehearsed.own_interval)],
      rehearsed && [(alarm ? "missed, " : "") + "sources in its place", percent(rehearsed.error), count(rehearsed.sources.length, "rehearsal")],
      F.auc !== null && F.auc !== undefined && ["AUC", F.auc.toFixed(2)],
      Math.abs(F.cost - F.error) > 1e-12 && ["expected cost", plain(F.cost), "of a decision"],
      F.log_loss !== null && ["log-loss", plain(F.log_loss), "of its probabilities"],
    ]));
    if (F.notes.length) section("verdict").append(el("h3", null, "Before trusting it"), el("ul", { class: "small" }, F.notes.map((note) => el("li", null, cut(note.text, 400)))));
  }

  // ---------------------------------------------------------------- where to decide
  const priors = listOf(F.priors), costs = R.costs ? listOf(R.costs) : classes.map(() => 1);
  const state = { priors: priors.slice(), costs: costs.slice(), threshold: null, rate: null, touched: false };
  const counted = R.recount ? foretask.unpacked(R.recount) : null;
  // Rehearsals may tell an error of a target none of whose own samples can be left out; its scores tell nothing then.
  const single = F.notes.some((note) => note.kind === "one-label" || note.kind === "one-group");
  const mode = !F.told ? "untold" : single ? "fixed" : R.alarms ? "alarm" : counted ? "recount" : m === 2 && R.thresholds ? "law" : "fixed";

  /** What is expected at the state. */
  const answer = () => {
    const stakes = state.priors.map((prior, c) => prior * state.costs[c]);
    const finish = (found) => ({ ...found, cost: weighted(stakes, found.classErrors) });
    const forTwo = (first, second) => ({
      classErrors: [first, second], confusion: [[1 - first, first], [second, 1 - second]],
      error: weighted(state.priors, [first, second]), interval: null,
    });
    if (mode === "recount") {
      const best = m === 2 ? foretask.bestThreshold(counted, state.priors, state.costs) : null;
      const moved = m === 2 && state.threshold !== null;
      const deciding = moved ? [foretask.costAt(counted, state.priors, state.threshold), 1] : state.costs;
      return finish({ ...foretask.recount(counted, state.priors, deciding), threshold: moved ? state.threshold : best, deciding });
    }
    if (mode === "alarm") {
      const at = R.alarms[state.rate];
      const n = classes.indexOf(alarm.null);
      const errors = n === 0 ? [at.false_alarm, 1 - at.detection] : [1 - at.detection, at.false_alarm];
      return finish({ ...forTwo(...errors), threshold: at.threshold, alarm: at });
    }
    if (mode === "law" && state.threshold !== null) {
      const nearest = R.thresholds.reduce((best, one) => (Math.abs(one[0] - state.threshold) < Math.abs(best[0] - state.threshold) ? one : best));
      return finish({ ...forTwo(nearest[1], nearest[2]), threshold: nearest[0] });
    }
    const classErrors = listOf(F.class_errors);
    return finish({
      classErrors, confusion: classes.map((name) => listOf(F.confusion[name])), error: weighted(state.priors, classErrors),
      interval: state.touched ? null : F.interval, threshold: D.threshold,
    });
  };

  const decide = section("decide");
  let refresh = () => {};
  const stakesTable = () => {
    const rows = classes.map((name, c) => {
      const field = (what, list, least) => {
        const input = el("input", { type: "number", min: least, step: "any", value: Number(list[c].toPrecision(4)), "aria-label": what + " " + cut(name) });
        input.addEventListener("input", () => {
          const value = Number(input.value);
          const good = input.value !== "" && Number.isFinite(value) && value > 0;
          input.setAttribute("aria-invalid", good ? "false" : "true");
          if (!good) return;
          if (list === shares) { shares[c] = value; const total = shares.reduce((a, b) => a + b, 0); state.priors = shares.map((x) => x / total); state.ownPriors = true; }
          else { state.costs[c] = value; state.ownCosts = true; }
          state.touched = true;
          refresh();
        });
        return input;
      };
      const error = el("td", { class: "number" });
      return { row: el("tr", null, el("th", { scope: "row" }, named(name, 30)), el("td", null, field("share in use of", shares, 0)), el("td", null, field("cost of a mistake in", state.costs, 0)), error), error };
    });
    const head = ["class", "share in use", "a mistake costs", alarm ? "wrong" : "expected error"];
    const build = (part) => el("table", null,
      el("thead", null, el("tr", null, head.map((text, i) => el("th", { scope: "col", class: i === 3 ? "number" : null }, text)))),
      el("tbody", null, part.map((one) => one.row)));
    const node = rows.length <= SHOWN ? build(rows)
      : el("details", null, el("summary", null, "Shares and costs of " + rows.length + " classes"), build(rows));
    return { node, errors: rows.map((one) => one.error) };
  };
  const shares = state.priors.slice();

  const densityDrawing = (at) => (width) => {
    const height = 200, left = 8, right = 8, top = 18, bottom = 28;
    const curves = listOf(D.densities);
    const xs = curves.flat().map((point) => point[0]), ys = curves.flat().map((point) => point[1]);
    const range = [Math.min(...xs), Math.max(...xs)], most = Math.max(...ys) || 1;
    const x = (score) => left + ((score - range[0]) / (range[1] - range[0] || 1)) * (width - left - right);
    const y = (density) => height - bottom - (density / most) * (height - top - bottom);
    const path = (curve) => curve.map((point, i) => (i ? "L" : "M") + x(point[0]).toFixed(1) + " " + y(point[1]).toFixed(1)).join("");
    const colour = ["var(--first)", "var(--second)"];
    const base = y(0);
    const held = at === null || !Number.isFinite(at) ? null : Math.min(Math.max(at, range[0]), range[1]);
    const node = svg("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Expected densities of the score of both classes, with the threshold. The table beside it has the numbers.", class: "grab" },
      curves.map((curve, c) => [
        svg("path", { d: path(curve) + "L" + x(curve[curve.length - 1][0]).toFixed(1) + " " + base + "L" + x(curve[0][0]).toFixed(1) + " " + base + "Z", fill: colour[c], "fill-opacity": "0.14" }),
        svg("path", { d: path(curve), fill: "none", stroke: colour[c], "stroke-width": "2", "stroke-dasharray": c ? "6 4" : null }),
      ]),
      svg("path", { class: "axis", d: "M" + left + " " + base + "H" + (width - right) }),
      ticks(range[0], range[1], Math.max(3, Math.floor(width / 90))).map((value) =>
        svg("text", { class: "tick", x: x(value), y: height - 10, "text-anchor": "middle" }, String(value))),
      held !== null && [
        svg("line", { x1: x(held), x2: x(held), y1: top - 4, y2: base, stroke: "var(--ink)", "stroke-width": "2" }),
        svg("circle", { cx: x(held), cy: top - 4, r: "5", fill: "var(--ink)" }),
        svg("text", { x: Math.min(Math.max(x(held) - 10, 60), width - 66), y: 12, "text-anchor": "end" }, "← " + cut(classes[1], width > 420 ? 20 : 8)),
        svg("text", { x: Math.max(Math.min(x(held) + 10, width - 60), 66), y: 12 }, cut(classes[0], width > 420 ? 20 : 8) + " →"),
      ]);
    node.scoreAt = (clientX) => {
      const box = node.getBoundingClientRect();
      const inside = ((clientX - box.left) / box.width) * width;
      return range[0] + ((inside - left) / (width - left - right)) * (range[1] - range[0]);
    };
    return node;
  };

  const confusionTable = (confusion) => {
    if (m > 20) {
      const pairs = [];
      confusion.forEach((row, c) => row.forEach((share, d) => { if (c !== d && share > 0) pairs.push([share * state.priors[c], share, c, d]); }));
      pairs.sort((a, b) => b[0] - a[0]);
      return table("The most frequent confusions of " + m + " classes", [["class"], ["called"], ["of this class", "number"], ["of all", "number"]],
        pairs.slice(0, SHOWN).map(([all, share, c, d]) => [named(classes[c], 30), named(classes[d], 30), percent(share), percent(all)]));
    }
    const turned = m > 4 && classes.some((name) => name.length > 3);
    const cell = (share, c, d) => {
      const node = el("td", { class: c === d ? "hit" : null }, share < 0.0005 ? "·" : (100 * share).toFixed(share < 0.0995 ? 1 : 0).replace(/^0\./, "."));
      node.style.background = c === d ? "transparent" : "color-mix(in srgb, var(--second) " + Math.min(60, Math.round(220 * share)) + "%, transparent)";
      return node;
    };
    return el("table", { class: "matrix" },
      el("caption", null, "Of 100 samples of a class (row), called what (column)"),
      el("thead", null, el("tr", null, el("th", { scope: "col" }, "class"), classes.map((name) => el("th", { scope: "col", class: turned ? "turned" : null }, named(name, 12))))),
      el("tbody", null, confusion.map((row, c) => el("tr", null, el("th", { scope: "row" }, named(classes[c], 14)), row.map((share, d) => cell(share, c, d))))));
  };

  const askCommand = (found) => {
    if (!R.ask) return null;
    const list = (values) => quoted(classes.map((name, c) => name + "=" + values[c]).join(","));
    const words = [R.ask];
    if (mode === "alarm") {
      const at = R.alarms[state.rate].requested;
      words[0] = words[0].replace(/--false-alarm(=| )\S+/, "--false-alarm " + at);
    }
    if (state.ownPriors) words.push("--prior " + list(state.priors));
    else if (R.prior) words.push("--prior " + quoted(R.prior));
    const deciding = found.deciding || state.costs;
    if (deciding.some((cost) => cost !== 1)) words.push("--cost " + list(deciding));
    return words.join(" ");
  };

  if (mode === "untold") {
    decide.append(p("Nothing to decide with yet: what errors a threshold makes cannot be told from one label in each class.", "notice"));
  } else {
    const explain = {
      recount: m === 2
        ? "Scores of samples that had no say in their own rule. Drag the threshold, or say how often classes occur in use and what mistakes cost: the threshold moves to where it is best, and everything is counted again."
        : "Say how often classes occur in use and what mistakes cost: all samples that had no say in their own rule are decided and counted again.",
      alarm: "The threshold holds a false-alarm rate. Move the rate: threshold, false alarms and detections follow.",
      law: "The expected law of the scores. Drag the threshold; labels, rule and score stay as they are.",
      fixed: "Shares and costs weigh the errors of the classes; the decision itself stays as it is. To let it follow, ask again with --prior and --cost.",
    }[mode];
    decide.append(p(explain));
    if (R.scores_left_out) decide.append(p("The " + R.scores_left_out + " scores of samples left out are too many for a page: " + (m === 2 ? "the threshold follows the law of the scores, and " : "") + "for other priors and costs ask the command line.", "notice"));
    if (rehearsed && (mode === "recount" || mode === "alarm"))
      decide.append(p("By the target's own samples; the forecast above also takes in rehearsals on sources, which are not done again here.", "small quiet"));
    const output = el("div", { class: "stands", role: "status", "aria-live": "polite", id: "decided" });
    const details = el("div", { id: "decided-figures" });
    const { node: stakesNode, errors } = stakesTable();
    const picture = el("div", { id: "densities" });
    const matrix = el("div", { id: "confusion" });
    const commandNode = el("code", { class: "code unprinted", id: "ask" });
    let current = answer0();
    function answer0() {
      if (mode === "alarm") state.rate = R.alarms.findIndex((one) => one.requested === alarm.requested);
      return answer();
    }
    const redraw = m === 2 ? drawn(picture, (width) => densityDrawing(current.threshold)(width)) : null;
    let slider = null, number = null, reset = null;
    const grid = D.densities && m === 2 ? listOf(D.densities).flat().map((point) => point[0]) : [];
    const range = grid.length ? [Math.min(...grid), Math.max(...grid)] : [0, 1];
    const STEPS = 1000;
    const toScore = (value) => range[0] + ((range[1] - range[0]) * value) / STEPS;
    const moveTo = (score) => { state.threshold = score; state.touched = true; refresh(); };
    const controls = [];
    if (m === 2 && (mode === "recount" || mode === "law")) {
      slider = el("input", { type: "range", id: "threshold", min: 0, max: STEPS, step: 1, "aria-label": "threshold" });
      number = el("input", { type: "number", id: "threshold-number", step: "any", "aria-label": "threshold as a number" });
      reset = el("button", { type: "button", id: "best" }, mode === "recount" ? "Best for these shares and costs" : "As the model decides");
      slider.addEventListener("input", () => moveTo(toScore(Number(slider.value))));
      number.addEventListener("input", () => { if (number.value !== "" && Number.isFinite(Number(number.value))) moveTo(Number(number.value)); });
      reset.addEventListener("click", () => { state.threshold = null; refresh(); });
      controls.push(slider, el("div", { class: "row" }, el("span", { class: "label" }, "threshold"), number, reset));
    }
    if (mode === "alarm") {
      slider = el("input", { type: "range", id: "rate", min: 0, max: R.alarms.length - 1, step: 1, "aria-label": "false-alarm rate" });
      slider.addEventListener("input", () => { state.rate = Number(slider.value); state.touched = true; refresh(); });
      controls.push(slider);
    }
    if (m === 2 && mode !== "fixed") {
      const setFrom = (event) => {
        const node = picture.firstChild;
        if (!node || !node.scoreAt) return;
        const score = node.scoreAt(event.clientX);
        if (mode === "alarm") {
          const distance = (one) => (Number.isFinite(one.threshold) ? Math.abs(one.threshold - score) : Infinity);
          state.rate = R.alarms.reduce((best, one, i) => (distance(one) < distance(R.alarms[best]) ? i : best), 0);
          state.touched = true;
          refresh();
        } else moveTo(Math.min(Math.max(score, range[0]), range[1]));
      };
      picture.addEventListener("pointerdown", (event) => { picture.setPointerCapture(event.pointerId); setFrom(event); });
      picture.addEventListener("pointermove", (event) => { if (picture.hasPointerCapture(event.pointerId)) setFrom(event); });
    }
    refresh = () => {
      current = answer();
      const found = current;
      if (slider && mode === "alarm") {
        slider.value = state.rate;
        slider.setAttribute("aria-valuetext", "rate " + percent(found.alarm.requested));
      } else if (slider) {
        slider.value = Math.round(((found.threshold - range[0]) / (range[1] - range[0] || 1)) * STEPS);
        slider.setAttribute("aria-valuetext", "threshold " + plain(found.threshold) + ", error " + percent(found.error));
        if (document.activeElement !== number) number.value = Number.isFinite(found.threshold) ? Number(found.threshold.toPrecision(6)) : "";
      }
      output.textContent = mode === "alarm"
        ? "Rate " + percent(found.alarm.requested) + ": " + percent(found.alarm.detection) + " detected (" + span(found.alarm.detection_interval) + ")"
        : "Expected error " + percent(found.error) + (found.interval ? " (" + span(found.interval) + ")" : "");
      const called = (c) => el("span", null, cut(classes[c], 20) + " called " + cut(classes[1 - c], 20));
      details.replaceChildren(figures([
        mode === "alarm" && ["false alarms", percent(found.alarm.false_alarm), span(found.alarm.false_alarm_interval)],
        mode === "alarm" && ["threshold", plain(found.alarm.threshold)],
        mode === "alarm" && ["expected error", percent(found.error)],
        m === 2 && mode !== "alarm" && [called(0), percent(found.classErrors[0])],
        m === 2 && mode !== "alarm" && [called(1), percent(found.classErrors[1])],
        ["expected cost", plain(found.cost), "of a decision"],
      ]));
      errors.forEach((node, c) => { node.textContent = percent(found.classErrors[c]); });
      if (redraw) redraw();
      if (m > 2) matrix.replaceChildren(confusionTable(found.confusion));
      const command = askCommand(found);
      commandNode.textContent = command || "";
      api.current = found;
    };
    const tableBox = el("div", null, output, details, stakesNode);
    if (single) {
      decide.append(p("No sample of the target can be left out, so that there is no law of its scores to draw; the errors are those that sources tell of.", "notice"), tableBox);
    } else if (m === 2) {
      decide.append(el("div", { class: "panes" },
        el("figure", null, el("ul", { class: "legend" }, el("li", { class: "first" }, el("i"), named(classes[0], 30)), el("li", { class: "second" }, el("i"), named(classes[1], 30))), picture, controls),
        tableBox));
    } else {
      decide.append(el("div", { class: "panes" }, m > 20 ? matrix : scrolled("confusions", matrix), tableBox));
    }
    if (R.ask && (mode === "recount" || mode === "alarm")) decide.append(el("div", { class: "unprinted" }, p("The same question to the command line:", "small quiet"), commandNode));
  }

  // ---------------------------------------------------------------- more labels
  {
    const box = section("labels");
    const curve = R.curve || [];
    if (!F.told || curve.length < 2) {
      box.append(p(F.told ? "Not asked for (--no-details)." : "What more labels would bring cannot be told from one label in each class.", "notice"));
    } else {
      const output = el("div", { class: "stands", role: "status", "aria-live": "polite", id: "curve-says" });
      const start = Math.max(0, curve.findIndex((one) => one.added >= 10));
      const slider = el("input", { type: "range", id: "added", min: 0, max: curve.length - 1, step: 1, value: start, "aria-label": "labels added to each class" });
      const picture = el("div");
      const last = curve[curve.length - 1].added;
      const draw = drawn(picture, (width) => {
        const height = 190, left = 46, right = 12, top = 12, bottom = 30;
        // A step of the slider is as wide everywhere, so that the mark is above its handle (style.css has the margins).
        const x = (step) => left + (step / (curve.length - 1)) * (width - left - right);
        const most = Math.max(...curve.map((one) => Math.min(1, one.interval[1])), 1e-6);
        const y = (share) => height - bottom - (share / most) * (height - top - bottom);
        const point = (step, share) => x(step).toFixed(1) + " " + y(share).toFixed(1);
        const at = Number(slider.value), here = curve[at];
        const band = curve.map((one, step) => point(step, one.interval[1])).concat(curve.map((one, step) => point(step, one.interval[0])).reverse());
        const marks = curve.map((one, step) => [one.added, step]).filter(([added]) => (width > 420 ? [0, 5, 20, 100, 500, 2000] : [0, 5, 20, 100, 2000]).includes(added));
        return svg("svg", { viewBox: "0 0 " + width + " " + height, role: "img", "aria-label": "Expected " + aimName + " with more labels per class, and its 90 % interval. The slider reads it out." },
          ticks(0, most, 4).map((share) => [
            svg("path", { class: "axis", d: "M" + left + " " + y(share).toFixed(1) + "H" + (width - right) }),
            svg("text", { class: "tick", x: left - 6, y: y(share) + 4, "text-anchor": "end" }, Number((100 * share).toPrecision(3)) + " %")]),
          marks.map(([added, step]) => svg("text", { class: "tick", x: x(step), y: height - 12, "text-anchor": added === 0 ? "start" : added === last ? "end" : "middle" }, added === 0 ? "now" : "+" + added)),
          svg("path", { d: "M" + band.join("L") + "Z", fill: "var(--band)" }),
          svg("path", { d: "M" + curve.map((one, step) => point(step, one.error)).join("L"), fill: "none", stroke: "var(--first)", "stroke-width": "2" }),
          svg("line", { x1: x(at), x2: x(at), y1: top, y2: height - bottom, stroke: "var(--quiet)", "stroke-dasharray": "3 3" }),
          svg("circle", { cx: x(0), cy: y(curve[0].error), r: 4, fill: "var(--ink)" }),
          svg("circle", { cx: x(at), cy: y(here.error), r: 5, fill: "var(--second)" }));
      });
      const tell = () => {
        const one = curve[Number(slider.value)];
        output.textContent = (one.added === 0 ? "Now: " : "+" + one.added + " per class: ") + "expected " + aimName + " " + percent(one.error) + " (" + span(one.interval) + ")";
        slider.setAttribute("aria-valuetext", output.textContent);
        draw();
      };
      slider.addEventListener("input", tell);
      box.append(p("How many more labels for each class of the target?"), picture, slider, output);
      if (D.learning_curve && D.learning_curve.length)
        box.append(el("details", null, el("summary", null, "As a table"), table(null, [["labels per class"], ["expected " + aimName, "number"], ["90 %", "number"], ["forecast's interval then", "number wide"]],
          D.learning_curve.map((one) => ["+" + one.added, percent(one.error), span(one.interval), span(one.foretold_interval)]))));
      tell();
    }
  }

  // ---------------------------------------------------------------- the map of tasks
  // A likeness within so many deviations of none may be chance.
  const CHANCE = 1.645;
  const LETTER = 6.7;
  /** Sources by their likeness to the target (across) and to one another (up and down), in a circle of radius one. */
  const mapDrawing = (width, places, doubtful, off) => {
    // As much of the circle as the dots need.
    const radius = Math.min(190, (width - 130) / 2);
    const [above, below] = [1, -1].map((side) => radius * Math.min(1, Math.max(0.25, ...places.map((one) => side * one.y + 0.1))));
    const height = above + below + 46, middle = width / 2, centre = above + 12;
    const x = (value) => middle + radius * value, y = (value) => centre - radius * value;
    const taken = [];
    const free = (box) => box[0] >= 2 && box[2] <= width - 2 && box[1] >= 0 && box[3] <= height - 22 && !taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3]);
    const dots = [{ x: 1, y: 0, task: D.target, target: true }, ...places];
    dots.forEach((one) => taken.push([x(one.x) - 7, y(one.y) - 7, x(one.x) + 7, y(one.y) + 7]));
    /** A name beside its dot where there is room; the table has them all. */
    const label = (one) => {
      const text = cut(one.task, width > 420 ? 24 : 12), wide = LETTER * Array.from(text).length + 4, px = x(one.x), py = y(one.y);
      for (const [anchor, dx, dy] of [["start", 10, 4], ["end", -10, 4], ["middle", 0, -11], ["middle", 0, 20], ["start", 8, -8], ["end", -8, -8], ["start", 8, 17], ["end", -8, 17]]) {
        const left = anchor === "start" ? px + dx : anchor === "end" ? px + dx - wide : px - wide / 2;
        const box = [left, py + dy - 11, left + wide, py + dy + 4];
        if (!free(box)) continue;
        taken.push(box);
        return svg("text", { x: (px + dx).toFixed(1), y: (py + dy).toFixed(1), "text-anchor": anchor, class: off.has(one.task) ? "tick" : null }, text);
      }
      return null;
    };
    const names = [...dots].sort((a, b) => (b.target ? 2 : Math.abs(b.x)) - (a.target ? 2 : Math.abs(a.x))).map(label);
    const end = (side, tall) => x(side * Math.sqrt(Math.max(0, 1 - (tall / radius) ** 2))).toFixed(1) + " ";
    const arc = (side) => "M" + end(side, above) + (centre - above).toFixed(1) + "A" + radius + " " + radius + " 0 0 " + (side > 0 ? 1 : 0) + " " + end(side, below) + (centre + below).toFixed(1);
    const dot = (one) => {
      const px = x(one.x).toFixed(1), py = y(one.y).toFixed(1), colour = one.x < 0 ? "var(--second)" : "var(--first)";
      const title = svg("title", null, cut(one.task, 200) + ": " + (one.x >= 0 ? "+" : "") + one.x.toFixed(2) + " ± " + one.deviation.toFixed(2));
      if (off.has(one.task)) return svg("path", { d: "M" + px + " " + py + "m-5-5l10 10m0-10l-10 10", stroke: "var(--quiet)", "stroke-width": 2, fill: "none" }, title);
      return svg("circle", { cx: px, cy: py, r: 6, stroke: colour, "stroke-width": 2, fill: doubtful(one) ? "var(--card)" : colour, "stroke-dasharray": doubtful(one) ? "3 2" : null }, title);
    };
    return svg("svg", { viewBox: "0 0 " + width + " " + Math.ceil(height), role: "img", "aria-label": "Map of " + count(places.length, "source") + " by likeness to the target and to one another. The table has the likenesses." },
      svg("path", { class: "axis", d: arc(1) + arc(-1) + "M" + x(-1) + " " + centre + "H" + x(1) + "M" + middle + " " + (centre - above).toFixed(1) + "V" + (centre + below).toFixed(1) }),
      places.length <= SHOWN && places.map((one) => svg("line", { x1: middle, y1: centre, x2: x(one.x).toFixed(1), y2: y(one.y).toFixed(1), stroke: one.x < 0 ? "var(--second)" : "var(--first)", "stroke-opacity": 0.35 })),
      [["opposed", -1], ["unrelated", 0], ["the same", 1]].map(([text, at]) => svg("text", { class: "tick", x: x(at), y: Math.ceil(height) - 6, "text-anchor": "middle" }, text)),
      places.map(dot),
      svg("path", { d: "M" + x(1) + " " + centre + "m0-8l8 8l-8 8l-8-8z", fill: "var(--ink)" }),
      names);
  };

  // ---------------------------------------------------------------- tasks and sources
  {
    const box = section("sources");
    const related = D.relatedness || {};
    const values = D.sources || null;
    const byTask = new Map((values || []).filter((one) => one.task !== null).map((one) => [one.task, one]));
    const together = (values || []).find((one) => one.task === null) || ((values || []).length === 1 ? values[0] : null);
    const target = D.tasks.find((task) => task.name === D.target);
    const sources = D.tasks.filter((task) => task.name !== D.target);
    const total = (task) => task.counts.reduce((a, b) => a + b, 0);
    const classList = (task) => task.classes.length > 4 ? count(task.classes.length, "class") : task.classes.map((name, c) => cut(name, 16) + " " + task.counts[c]).join(", ");
    box.append(p("The target has " + count(total(target), "sample") + ": " + (target.classes.length > 12 ? count(target.classes.length, "class") : target.classes.map((name, c) => cut(name, 20) + " " + target.counts[c]).join(", ")) + "."));
    if (!sources.length) box.append(p("There are no sources: everything rests on the target's own labels.", "notice"));
    else {
      const likeness = (name) => (related[name] === null || related[name] === undefined ? null : related[name]);
      const word = (value) => (value === null ? "cannot be compared" : value >= R.related ? "related" : value <= -R.related ? "opposed" : "hardly related");
      const strip = (value) => {
        const x = 60 + 52 * (value || 0);
        return svg("svg", { viewBox: "0 0 120 18", class: "strip", role: "img", "aria-label": value === null ? "likeness unknown" : "likeness " + value.toFixed(2) },
          svg("path", { class: "axis", d: "M8 9H112M60 3V15" }),
          value !== null && svg("line", { x1: 60, x2: x, y1: 9, y2: 9, stroke: value < 0 ? "var(--second)" : "var(--first)", "stroke-width": 3 }),
          value !== null && svg("circle", { cx: x, cy: 9, r: 5, fill: value < 0 ? "var(--second)" : "var(--first)" }));
      };
      const off = new Set();
      const output = el("div", { class: "stands", role: "status", "aria-live": "polite", id: "sources-say" });
      const byOwn = rehearsed ? [rehearsed.own_error, rehearsed.own_interval]
        : alarm ? [1 - alarm.detection, [1 - alarm.detection_interval[1], 1 - alarm.detection_interval[0]]] : [F.error, F.interval];
      const withValues = values && values.length && F.told;
      // What was computed, by the sources that are left out.
      const place = new Map(D.tasks.map((task, i) => [task.name, i]));
      const keyOf = (names) => [...names].map((name) => place.get(name)).sort((a, b) => a - b).join();
      const computed = new Map((R.combinations || []).map((one) => [one.without.join(), one]));
      byTask.forEach((one, name) => computed.set(keyOf([name]), one));
      if (together) computed.set(keyOf(sources.map((task) => task.name)), together);
      const every = computed.size === 2 ** sources.length - 1;
      const listed = (names) => names.slice(0, 4).map((name) => cut(name, 24)).join(", ") + (names.length > 4 ? " and " + (names.length - 4) + " more" : "");
      const tell = () => {
        const without = sources.map((task) => task.name).filter((name) => off.has(name));
        const one = computed.get(keyOf(without));
        const say = (what, error, ends, more) => { output.textContent = what + ": expected " + aimName + " " + percent(error) + " (" + span(ends) + ")" + (more || ""); };
        if (!without.length) say(sources.length === 1 ? "With the source" : "With all " + sources.length + " sources", byOwn[0], byOwn[1]);
        else say(sources.length > 1 && without.length === sources.length ? "Without all sources" : "Without " + (without.length > 1 ? without.length + " sources (" + listed(without) + ")" : cut(without[0], 40)), one.error_without, one.interval,
          "; with " + (without.length > 1 ? "them " : "it ") + signed(-one.paired.difference) + " points (" + signed(-one.paired.interval[1]) + " to " + signed(-one.paired.interval[0]) + ")");
        drawMap();
      };
      let drawMap = () => {};
      sources.sort((a, b) => Math.abs(likeness(b.name) || 0) - Math.abs(likeness(a.name) || 0));
      const controls = new Map();
      const slider = el("input", { type: "range", id: "worst", min: 0, step: 1, value: 0, "aria-label": "sources left out, those worth least first" });
      const shown = () => { controls.forEach((box, name) => { box.checked = every ? !off.has(name) : off.size === 1 && off.has(name); }); tell(); };
      const leave = (names) => { off.clear(); names.forEach((name) => off.add(name)); shown(); };
      const control = (name) => {
        if (every) {
          const box = el("input", { type: "checkbox", role: "switch", checked: !off.has(name), "aria-label": "use " + cut(name) });
          box.addEventListener("change", () => { if (box.checked) off.delete(name); else off.add(name); tell(); });
          return box;
        }
        const box = el("input", { type: "radio", name: "left-out", checked: off.size === 1 && off.has(name), "aria-label": "without " + cut(name) });
        box.addEventListener("change", () => { slider.value = 0; leave([name]); });
        return box;
      };
      const rows = sources.map((task) => () => {
        const value = byTask.get(task.name), like = likeness(task.name);
        const cells = [named(task.name, 30)];
        if (withValues) {
          controls.set(task.name, control(task.name));
          cells.push(controls.get(task.name));
        }
        cells.push([strip(like), like === null ? el("span", { class: "quiet small" }, word(like)) : [(like >= 0 ? "+" : "") + like.toFixed(2) + " ", el("span", { class: "quiet wide" }, word(like))]], String(total(task)));
        if (withValues) cells.push(value ? signed(value.paired.difference) : "", el("span", { class: "wide" }, value ? value.paired.verdict : ""));
        else cells.push(el("span", { class: "wide" }, classList(task)));
        return cells;
      });
      const heads = withValues
        ? [["source"], [every ? "use" : "without"], ["likeness"], ["samples", "number"], ["gain", "number"], ["verdict", "wide"]]
        : [["source"], ["likeness"], ["samples", "number"], ["classes", "wide"]];
      if (!F.told) box.append(p("What sources are worth cannot be told from one label in each class.", "notice"));
      else if (withValues) {
        box.append(p("Likeness from opposed (-1) over unrelated to the same (+1), and what each source is worth. " + (every ? "Switch sources off to see what is expected without them." : "Choose one to see what is expected without it, or leave out the worst of them together.")), output);
        tell();
        const showAll = (off) => leave(off ? sources.map((task) => task.name) : []);
        if (!every) {
          // From the source worth least on, as the library did it; ties in the order of tasks.
          const order = sources.map((task) => task.name).sort((a, b) => byTask.get(a).paired.difference - byTask.get(b).paired.difference || place.get(a) - place.get(b));
          const sizes = [0, 1, ...R.combinations.map((one) => one.without.length), order.length];
          const steps = sizes.map((size) => order.slice(0, size)).filter((names) => !names.length || computed.has(keyOf(names)));
          const say = () => slider.setAttribute("aria-valuetext", steps[Number(slider.value)].length + " left out");
          slider.max = steps.length - 1;
          slider.addEventListener("input", () => { leave(steps[Number(slider.value)]); say(); });
          say();
          box.append(el("label", { for: "worst" }, "Leave out those worth least: none to all"), slider,
            el("button", { type: "button", class: "screen", id: "all-sources", onclick: () => { slider.value = 0; say(); showAll(false); } }, "Use all"));
        } else if (sources.length > 1) box.append(el("button", { type: "button", class: "screen", id: "all-sources", onclick: () => showAll(off.size < sources.length) }, "All off or on"));
      } else box.append(p(values ? "No source is used." : "What each source is worth was not asked for (--no-details).", "notice"));
      box.append(...long(null, heads, rows, "sources", "sources"));
      if (withValues) box.append(p("Gain: percentage points of " + aimName + " that a source takes away, sample by sample" + (rehearsed ? "; without rehearsals" : "") + ".", "small quiet"));
      box.append(el("h3", null, "The map"));
      if (!R.map) box.append(p(sources.length === 1 ? "One source is no map: its likeness is all there is to see." : "Fewer than two sources can be compared with the target, so that there is no map.", "small"));
      else {
        const picture = el("div", { id: "map" }), places = R.map.places;
        const doubtful = (one) => Math.abs(one.x) < CHANCE * one.deviation;
        const doubts = places.filter(doubtful).length;
        drawMap = drawn(picture, (width) => mapDrawing(width, places, doubtful, off));
        fill(box, [picture,
          p("Right: like the target; left: the other way round, which is as good. Sources that are near each other are alike. " +
            "Up and down shows " + percent(R.map.shown) + " of what else tells sources apart." +
            (places.length < sources.length ? " On it: the " + places.length + " that say most." : ""), "small quiet"),
          doubts > 0 && p((doubts === places.length ? "All of these likenesses" : doubts === 1 ? "One likeness, with a dashed ring," : doubts + " likenesses, with dashed rings,") + " may be chance: too few labels to tell from none.", "small notice")]);
        drawMap();
      }
    }
  }

  // ---------------------------------------------------------------- foretold and measured
  if (R.evaluation) {
    const box = section("measured"), E = R.evaluation, M = E.measured;
    box.hidden = false;
    const within = E.within_forecast_interval;
    box.append(p(!F.told ? "Nothing was foretold that the measured " + percent(M.error) + " could be compared with."
      : "In a test of " + count(M.samples, "sample") + " the forecast expects " + span(M.foretold) + ", and " + percent(M.error) + " was measured: " + (within ? "it holds." : "it does not hold. By chance that happens in one of ten cases; otherwise the test is not like the training data of the target.")));
    const rows = [["all", F.told ? percent(F.error) : "unknown", F.told ? span(F.interval) : "", percent(M.error), span(M.interval), String(M.samples)]];
    classes.slice(0, SHOWN).forEach((name) => rows.push([named(name, 30), F.told ? percent(F.class_errors[name]) : "unknown", "", M.class_samples[name] ? percent(M.class_errors[name]) : "no sample", "", String(M.class_samples[name])]));
    box.append(table(null, [["class"], ["foretold", "number"], ["90 %", "number wide"], ["measured", "number"], ["90 %", "number wide"], ["samples", "number"]], rows));
    if (m > SHOWN) box.append(p("And " + (m - SHOWN) + " more classes.", "small quiet"));
    if (M.alarm) {
      const rate = (name, one, told) => one && [name, percent(told), percent(one.share), span(one.foretold), String(one.samples)];
      box.append(table("The alarm", [["rate"], ["foretold", "number"], ["measured", "number"], ["in such a test", "number"], ["samples", "number"]],
        [rate("false alarms", M.alarm.false_alarm, alarm.false_alarm), rate("detected", M.alarm.detection, alarm.detection)].filter(Boolean)));
    }
  }

  // ---------------------------------------------------------------- weights by feature
  {
    const box = section("features"), W = R.weights;
    if (!W || !W.largest.length) {
      const views = Object.entries(D.views || {}).filter(([, weight]) => weight > 0).map(([view]) => view);
      box.append(p("The model is not linear in its features" + (views.length ? " (it looks through the views " + views.join(", ") + ")" : "") + ", so that no feature has one weight. With --views linear it has."));
    } else {
      const two = W.largest[0].effect.length === 1;
      const most = Math.max(...W.largest[0].effect.map(Math.abs)) || 1;
      const rows = W.largest.map((one) => () => {
        const strongest = one.effect.reduce((best, x, c) => (Math.abs(x) > Math.abs(one.effect[best]) ? c : best), 0);
        const value = one.effect[strongest];
        const bar = el("div", { class: value < 0 ? "bar minus" : "bar" });
        bar.style.width = Math.max(1, (100 * Math.abs(value)) / most) + "%";
        const toward = two ? classes[value < 0 ? 1 : 0] : (value < 0 ? "not " : "") + cut(classes[strongest], 16);
        return [named(one.feature, 30), bar, plain(value), named(toward, 20), el("span", { class: "wide" }, plain(one.weight[strongest]))];
      });
      box.append(p("What one standard deviation of a feature adds to the margin" + (two ? " of " + cut(classes[0], 30) + "." : ", for the class where that is most.")),
        ...long(null, [["feature"], ["size"], ["effect", "number"], ["toward"], ["weight", "wide"]], rows, null, "of " + count(W.count, "feature")));
    }
  }

  // ---------------------------------------------------------------- the table
  {
    const box = section("table"), C = R.check;
    if (!C) box.append(p("The table was not looked at: rows came from statistics, a stream, Python, or were too many for memory. `foretask check` looks at files."));
    else {
      box.append(p(count(C.rows, "row") + ", " + count(C.columns.length, "column") + ", " + count(C.features.length, "feature") + (C.unlabelled ? ", " + count(C.unlabelled, "row") + " without a label" : "") + "." + (C.label ? " Classes are in the column " + cut(C.label, 30) + (C.task ? ", tasks in " + cut(C.task, 30) : "") + "." : "")));
      if (C.problems.length) box.append(el("h3", null, "To look at"), el("ul", { class: "small" }, C.problems.slice(0, SHOWN).map((text) => el("li", null, cut(text, 300))), C.problems.length > SHOWN && el("li", null, "and " + (C.problems.length - SHOWN) + " more")));
      if (C.columns.length) box.append(...long(null, [["column"], ["holds"], ["becomes", "free"]], C.columns.map((one) => () => [named(one.name, 30), one.holds, cut(one.becomes, 120)]), null, "columns"));
    }
  }

  // ---------------------------------------------------------------- how to make it again
  {
    const box = section("origin");
    if (R.command) box.append(el("code", { class: "code" }, printable(R.command).slice(0, 2000)));
    box.append(p("foretask " + (R.version || "") + ". The same files and options give the same page, byte by byte; " + "all numbers are in it as JSON, in the block with the id data."));
    if (R.files && R.files.listed.length) fill(box, [table(null, [["file"], ["bytes", "number"], ["SHA-256", "wide"]],
      R.files.listed.map((one) => [named(one.name, 60), one.bytes === null ? "a stream" : String(one.bytes), el("code", { class: "wide" }, one.sha256 || "not taken")])),
      R.files.count > R.files.listed.length && p("And " + (R.files.count - R.files.listed.length) + " more files.", "small quiet")]);
  }

  const api = foretask;
  api.state = state;
  api.mode = mode;
  refresh();
  window.foretask = foretask;
  window.addEventListener("beforeprint", () => drawings.forEach((again) => again()));
})();
