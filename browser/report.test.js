// The report in a real browser: it needs no network, runs no script but its own, shows names as text, can be used
// by everybody, and says what the command line says when somebody plays with it.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import axe from "axe-core";
import { chromium } from "playwright-core";

import { drawn, pairs, ten } from "./problems.js";

const root = new URL("..", import.meta.url).pathname;
const CLI = process.env.FORETASK_CLI || join(root, "target/debug/foretask");
const BROWSER = process.env.CHROMIUM || "/usr/bin/chromium";
const folder = join(root, "target/browser/reports");
const pictures = join(root, "target/screenshots");
/** What is computed in the page and in the library differs by rounding. */
const ROUNDING = 1e-9;
/** Quantiles of the Beta law are found by other methods. */
const QUANTILES = 1e-6;

const run = (...words) => execFileSync(CLI, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 28 });
const report = (name, problem, ...options) => {
  const page = join(folder, name + ".html");
  run("report", problem.file, "--target", problem.target, "--force", "-o", page, ...options);
  return page;
};
const forecast = (problem, ...options) =>
  JSON.parse(run("forecast", problem.file, "--target", problem.target, "--json", ...options));

let browser;
const problems = {}, pages = {};
before(async () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  mkdirSync(pictures, { recursive: true });
  browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  problems.two = pairs(folder);
  problems.ten = ten(folder);
  problems.costs = drawn(folder, "costs", [
    { task: "site a", count: 60, apart: 1.1 }, { task: "site b", count: 40, apart: -1 }, { task: "here", count: [18, 30], apart: 1 },
  ], ["sick", "well"], 8, 7);
  problems.many = drawn(folder, "many", Array.from({ length: 7 }, (_, i) => ({ task: "site " + "abcdefg"[i], count: 14 + i, apart: 1 - 0.35 * i })).concat([{ task: "here", count: 9, apart: 1 }]), ["sick", "well"], 6, 11);
  pages.many = report("many", problems.many);
  pages.two = report("two", problems.two, "--test", problems.two.test);
  pages.ten = report("ten", problems.ten);
  pages.costs = report("costs", problems.costs, "--cost", "sick=4,well=1", "--prior", "sick=0.2,well=0.8", "--views", "linear");
  pages.alarm = report("alarm", problems.costs, "--null", "well", "--false-alarm", "0.07", "--cost", "sick=4,well=1");
}, { timeout: 600_000 });
after(() => browser?.close());

/** A page from its file, with no network; every request and every complaint is kept. */
async function open(file, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1100, height: 900 }, ...options });
  await context.setOffline(true);
  const page = await context.newPage();
  const requests = [], complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => { complaints.push("dialog: " + dialog.message()); dialog.dismiss(); });
  const began = performance.now();
  await page.goto("file://" + file);
  await page.waitForFunction(() => window.foretask && window.foretask.mode);
  const took = performance.now() - began;
  return { page, requests, complaints, took, close: () => context.close() };
}

/** Milliseconds to open a page, the least of up to six: others may be busy on the same machine. */
async function quickest(file, first) {
  let least = first;
  for (let i = 0; i < 5 && least >= 1000; i++) {
    const { took, close } = await open(file);
    least = Math.min(least, took);
    await close();
  }
  return least;
}

const embedded = (file) => {
  const text = readFileSync(file, "utf8");
  return JSON.parse(text.split('id="data">')[1].split("</script>")[0]);
};

describe("a report is one file", () => {
  for (const name of ["two", "ten", "costs", "alarm", "many"]) {
    test(name + " opens in under a second, asks for nothing, and is small", async () => {
      const { page, requests, complaints, took, close } = await open(pages[name]);
      assert.deepEqual(complaints, []);
      assert.deepEqual(requests, ["file://" + pages[name]]);
      assert.ok((await quickest(pages[name], took)) < 1000);
      assert.ok(statSync(pages[name]).size < 1e6);
      assert.equal(await page.locator("script").count(), 2);
      await close();
    });
  }

  test("its data are what forecast --json prints", () => {
    const { report: more, ...data } = embedded(pages.two);
    assert.equal(JSON.stringify(data), JSON.stringify(forecast(problems.two)));
    assert.ok(more.version && more.recount && more.curve && more.check && more.evaluation);
  });

  test("a script that is not its own does not run", async () => {
    const { page, close } = await open(pages.two);
    const ran = await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.body.append(script);
      return window.intruder === true;
    });
    assert.equal(ran, false);
    await close();
  });

  test("the numbers shown are those of --json, to the last printed digit", async () => {
    const data = embedded(pages.two), { page, close } = await open(pages.two);
    const text = await page.locator("main").innerText();
    const show = (share) => page.evaluate((share) => window.foretask.percent(share), share);
    const wanted = [data.forecast.error, ...data.forecast.interval, data.report.evaluation.measured.error, ...data.learning_curve.map((one) => one.error)];
    await page.locator("details summary").first().waitFor();
    const whole = await page.locator("main").evaluate((node) => node.textContent);
    for (const share of wanted) assert.ok(whole.includes((await show(share)).replace(" %", "")), String(share));
    for (const line of data.verdict) assert.ok(text.includes(line.text), line.text);
    // As the command line writes them.
    const lines = run("forecast", problems.two.file, "--target", problems.two.target);
    assert.ok(lines.includes("Expected error " + (await show(data.forecast.error))));
    await close();
  });
});

/** Sets a number as a person does. */
const type = async (page, selector, value) => {
  await page.locator(selector).fill(String(value));
};
const now = (page) => page.evaluate(() => {
  const { error, interval, classErrors, cost, threshold, confusion, alarm } = window.foretask.current;
  const text = (id) => document.getElementById(id)?.textContent;
  return { error, interval, classErrors, cost, threshold, confusion, alarm, says: text("decided"), ask: text("ask") };
});

/** The page and the command line answer the very command that the page shows. */
async function compare(page, problem, asked, { cost = null, classes }) {
  const shown = await now(page);
  // What the page would have somebody type, in words; names here have no quotes.
  const words = shown.ask.match(/'[^']*'|\S+/g).map((word) => word.replace(/^'|'$/g, "")).slice(1);
  const told = JSON.parse(run(...words, "--no-details", "--json")).forecast;
  const close = (a, b, most, what) => assert.ok(Math.abs(a - b) <= most, `${asked}: ${what} ${a} and ${b}`);
  close(shown.error, told.error, ROUNDING, "error");
  classes.forEach((name, c) => {
    close(shown.classErrors[c], told.class_errors[name], ROUNDING, "error of " + name);
    classes.forEach((other, d) => close(shown.confusion[c][d], told.confusion[name][other], ROUNDING, "confusion"));
  });
  if (cost !== null) close(shown.cost, told.cost, ROUNDING * 100, "cost");
  if (shown.interval) [0, 1].forEach((end) => close(shown.interval[end], told.interval[end], QUANTILES, "interval"));
  if (shown.alarm) {
    close(shown.alarm.detection, told.alarm.detection, ROUNDING, "detection");
    close(shown.alarm.false_alarm, told.alarm.false_alarm, ROUNDING, "false alarms");
    assert.ok(shown.says.includes(await page.evaluate((x) => window.foretask.percent(x), told.alarm.detection)));
  } else assert.ok(shown.says.includes(await page.evaluate((x) => window.foretask.percent(x), told.error)), shown.says);
  return shown;
}

const PRIORS = [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95, 0.1];
const COSTS = [0.05, 0.2, 0.5, 1, 2, 5, 20, 100];

describe("the page says what the core says", { timeout: 900_000 }, () => {
  for (const name of ["two", "costs"]) {
    test(name + ": 38 thresholds, priors and costs", async () => {
      const problem = problems[name], { page, complaints, close } = await open(pages[name]);
      const data = embedded(pages[name]), classes = data.classes;
      let positions = 0;
      const first = await compare(page, problem, "start", { cost: true, classes });
      assert.ok(Math.abs(first.threshold - data.threshold) < 1e-9);
      positions += 1;
      const slider = page.locator("#threshold");
      for (let i = 0; i < 13; i++) {
        await slider.evaluate((node, value) => { node.value = value; node.dispatchEvent(new Event("input", { bubbles: true })); }, 350 + 25 * i);
        await compare(page, problem, "threshold " + i, { classes });
        positions += 1;
      }
      await page.locator("#best").click();
      const share = page.locator('#decide input[aria-label^="share"]'), cost = page.locator('#decide input[aria-label^="cost"]');
      for (const prior of PRIORS) {
        await share.nth(0).fill(String(prior));
        await share.nth(1).fill(String(1 - prior));
        await compare(page, problem, "prior " + prior, { cost: true, classes });
        positions += 1;
      }
      for (const value of COSTS) {
        await cost.nth(0).fill(String(value));
        await compare(page, problem, "cost " + value, { cost: true, classes });
        positions += 1;
      }
      for (let i = 0; i < 8; i++) {
        await share.nth(0).fill(String(PRIORS[(3 * i) % 8]));
        await cost.nth(1).fill(String(COSTS[(5 * i + 1) % 8]));
        await compare(page, problem, "both " + i, { cost: true, classes });
        positions += 1;
      }
      assert.ok(positions >= 30);
      assert.deepEqual(complaints, []);
      await close();
    });
  }

  test("ten classes: 30 priors and costs", async () => {
    const { page, complaints, close } = await open(pages.ten);
    const classes = embedded(pages.ten).classes;
    const share = page.locator('#decide input[aria-label^="share"]'), cost = page.locator('#decide input[aria-label^="cost"]');
    await compare(page, problems.ten, "start", { cost: true, classes });
    for (let i = 0; i < 30; i++) {
      await share.nth(i % 10).fill(String(PRIORS[(3 * i) % 8]));
      if (i >= 10) await cost.nth((7 * i) % 10).fill(String(COSTS[(5 * i) % 8]));
      await compare(page, problems.ten, "position " + i, { cost: true, classes });
    }
    assert.deepEqual(complaints, []);
    await close();
  });

  test("an alarm: all rates, and what they cost", async () => {
    const { page, close } = await open(pages.alarm);
    const { alarms } = embedded(pages.alarm).report, classes = embedded(pages.alarm).classes;
    assert.ok(alarms.length >= 24);
    for (let i = 0; i < alarms.length; i++) {
      await page.locator("#rate").evaluate((node, value) => { node.value = value; node.dispatchEvent(new Event("input", { bubbles: true })); }, i);
      if (i % 6 === 5) await page.locator('#decide input[aria-label^="cost"]').nth(0).fill(String(COSTS[i % 8]));
      await compare(page, problems.costs, "rate " + alarms[i].requested, { cost: true, classes });
    }
    await close();
  });

  for (const name of ["two", "ten", "costs"]) {
    test(name + ": every position of the labels slider", async () => {
      const { page, close } = await open(pages[name]);
      const curve = embedded(pages[name]).report.curve;
      assert.ok(curve.length >= 30);
      const options = name === "costs" ? ["--cost", "sick=4,well=1", "--prior", "sick=0.2,well=0.8", "--views", "linear"] : [];
      const told = forecast(problems[name], "--added", curve.map((one) => one.added).join(","), ...options).learning_curve;
      for (let i = 0; i < curve.length; i++) {
        await page.locator("#added").evaluate((node, value) => { node.value = value; node.dispatchEvent(new Event("input", { bubbles: true })); }, i);
        const says = await page.locator("#curve-says").textContent();
        const wanted = await page.evaluate(({ error, interval }) => [window.foretask.percent(error), window.foretask.span(interval)], told[i]);
        for (const part of wanted) assert.ok(says.includes(part), says + " | " + wanted);
      }
      await close();
    });
  }

  /** The forecast of the table without some tasks, which is what the page must say. */
  const told = new Map();
  const without = (problem, gone, options) => {
    const key = [problem.file, ...gone].join("\n");
    if (!told.has(key)) {
      const file = join(folder, "without.csv");
      const rows = readFileSync(problem.file, "utf8").split("\n");
      writeFileSync(file, rows.filter((row) => !gone.some((task) => row.startsWith('"' + task + '",'))).join("\n"));
      told.set(key, forecast({ file, target: problem.target }, "--no-rehearsal", "--no-details", ...options).forecast);
    }
    return told.get(key);
  };
  const shows = async (page, { error, interval }) => {
    const wanted = await page.evaluate(({ error, interval }) => window.foretask.percent(error) + " (" + window.foretask.span(interval) + ")", { error, interval });
    const says = await page.locator("#sources-say").textContent();
    assert.ok(says.includes("error " + wanted), says + " | " + wanted);
  };

  for (const [name, options] of [["two", []], ["ten", []], ["costs", ["--cost", "sick=4,well=1", "--prior", "sick=0.2,well=0.8", "--views", "linear"]]]) {
    test(name + ": every combination of switches", async () => {
      const { page, complaints, close } = await open(pages[name]);
      const data = embedded(pages[name]);
      const sources = data.tasks.map((task) => task.name).filter((task) => task !== data.target);
      assert.equal(await page.getByRole("switch").count(), sources.length);
      for (let bits = 0; bits < 2 ** sources.length; bits++) {
        const gone = sources.filter((_, i) => (bits >> i) & 1);
        for (const task of sources) await page.getByRole("switch", { name: "use " + task, exact: true }).setChecked(!gone.includes(task));
        await shows(page, without(problems[name], gone, options));
      }
      if (sources.length > 1) {
        await page.locator("#all-sources").click();
        assert.equal(await page.locator('#sources [role="switch"]:checked').count(), sources.length);
        await page.locator("#all-sources").click();
        await shows(page, without(problems[name], sources, options));
      }
      assert.deepEqual(complaints, []);
      await close();
    });
  }

  test("many sources: each, and the worst together", async () => {
    const { page, complaints, close } = await open(pages.many);
    const data = embedded(pages.many);
    const each = data.sources.filter((one) => one.task !== null);
    assert.equal(await page.getByRole("switch").count(), 0);
    for (const one of each.slice(0, 3)) {
      await page.getByRole("radio", { name: "without " + one.task, exact: true }).check();
      await shows(page, without(problems.many, [one.task], []));
    }
    const worst = [...each].sort((a, b) => a.paired.difference - b.paired.difference || data.tasks.findIndex((task) => task.name === a.task) - data.tasks.findIndex((task) => task.name === b.task)).map((one) => one.task);
    const slider = page.locator("#worst");
    assert.equal(Number(await slider.getAttribute("max")), worst.length);
    for (let n = 0; n <= worst.length; n++) {
      await slider.evaluate((node, value) => { node.value = value; node.dispatchEvent(new Event("input", { bubbles: true })); }, n);
      await shows(page, without(problems.many, worst.slice(0, n), []));
      assert.equal(await page.getByRole("radio", { checked: true }).count(), n === 1 ? 1 : 0);
      assert.match(await slider.getAttribute("aria-valuetext"), new RegExp("^" + n + " left out"));
    }
    await page.locator("#all-sources").click();
    assert.equal(await slider.inputValue(), "0");
    await shows(page, without(problems.many, [], []));
    assert.deepEqual(complaints, []);
    await close();
  });

  test("the map is where the core says, within its circle, and no name is over another", async () => {
    for (const name of ["two", "many"]) {
      const { page, close } = await open(pages[name]);
      const { report, relatedness } = embedded(pages[name]);
      for (const { task, x, y, deviation } of report.map.places) {
        assert.equal(x, relatedness[task]);
        assert.ok(x * x + y * y <= 1 + 1e-9 && deviation >= 0 && deviation <= 1);
      }
      for (const width of [1100, 375]) {
        await page.setViewportSize({ width, height: 900 });
        await page.waitForTimeout(120);
        const drawn = await page.locator("#map svg").evaluate((node) => ({
          dots: [...node.querySelectorAll("circle")].map((dot) => [Number(dot.getAttribute("cx")), Number(dot.getAttribute("cy")), dot.textContent]),
          texts: [...node.querySelectorAll("text")].map((text) => { const { x, y, width, height } = text.getBBox(); return [x, y, x + width, y + height, text.textContent]; }),
          box: node.viewBox.baseVal.width,
        }));
        assert.equal(drawn.dots.length, report.map.places.length);
        // In the middle is nothing alike, and one scale is for both directions.
        const places = report.map.places, farthest = places.reduce((best, one, i) => (Math.abs(one.x) > Math.abs(places[best].x) ? i : best), 0);
        const scale = (drawn.dots[farthest][0] - drawn.box / 2) / places[farthest].x;
        drawn.dots.forEach(([cx, cy, title], i) => {
          assert.ok(Math.abs(cx - drawn.box / 2 - scale * places[i].x) < 1, title);
          assert.ok(Math.abs(cy - drawn.dots[0][1] + scale * (places[i].y - places[0].y)) < 1, title);
          assert.ok(title.startsWith(places[i].task + ": "));
        });
        drawn.texts.forEach((one, i) => {
          assert.ok(one[0] >= 0 && one[2] <= drawn.box, one[4] + " is cut");
          drawn.texts.slice(i + 1).forEach((other) => assert.ok(one[0] >= other[2] || other[0] >= one[2] || one[1] >= other[3] - 3 || other[1] >= one[3] - 3, one[4] + " is over " + other[4]));
        });
      }
      await close();
    }
    const { page, close } = await open(pages.ten);
    assert.match(await page.locator("#sources").textContent(), /One source is no map/);
    assert.equal(await page.locator("#map").count(), 0);
    await close();
  });
});

describe("whatever the data are", { timeout: 300_000 }, () => {
  const hostile = ['<img src=x onerror="window.intruder=1">', "</script><script>window.intruder=1</script>", "a\"b'c&amp;<b>", "\u001b[31m\u202e\u2028line", "x".repeat(10_000), "__proto__"];
  test("names are shown as text", async () => {
    const tasks = hostile.map((task, i) => ({ task, count: 20, apart: i % 2 ? 1 : -1 })).concat([{ task: "</script><b>target</b>", count: 8, apart: 1 }]);
    const problem = drawn(folder, "hostile", tasks, ["<script>window.intruder=1</script>", "'\"><svg onload=window.intruder=1>"], 5, 3);
    const file = report("hostile", problem);
    const { page, complaints, requests, close } = await open(file);
    assert.deepEqual(complaints, []);
    assert.equal(requests.length, 1);
    assert.equal(await page.evaluate(() => window.intruder), undefined);
    assert.equal(await page.locator("main img, main b, main script").count(), 0);
    assert.ok((await page.locator("h1").textContent()).includes("</script><b>target</b>"));
    const text = await page.locator("main").textContent();
    assert.ok(text.includes("<script>window.intruder"));
    assert.ok(text.includes("\\u{1b}[31m"));
    assert.ok(!/[\u001b\u202e\u2028]/.test(text));
    await wide(page, "hostile");
    assert.ok(statSync(file).size < 1e6);
    await close();
  });

  const cases = {
    "one label in each class": [() => drawn(folder, "one", [{ task: "only", count: 1, apart: 1 }], ["a", "b"], 4, 5), /cannot be told|can be foretold/],
    "no sources": [() => drawn(folder, "none", [{ task: "only", count: 12, apart: 1 }], ["a", "b"], 4, 5), /There are no sources/],
    "forty classes": [() => drawn(folder, "forty", [{ task: "only", count: 4, apart: 3 }], Array.from({ length: 40 }, (_, i) => "class " + i), 40, 5), /most frequent confusions of 40/],
    "two hundred tasks": [() => drawn(folder, "hundreds", Array.from({ length: 200 }, (_, i) => ({ task: "task " + i, count: 6, apart: 1 })), ["a", "b"], 4, 5), /187 more sources/],
  };
  for (const [name, [make, expected]] of Object.entries(cases)) {
    test(name, async () => {
      const options = name === "two hundred tasks" ? ["--no-details"] : [];
      const file = report(name.replaceAll(" ", "-"), make(), ...options);
      const { page, complaints, close } = await open(file);
      assert.deepEqual(complaints, []);
      assert.match(await page.locator("main").textContent(), expected);
      assert.doesNotMatch(await page.locator("main").textContent(), /NaN|Infinity|undefined|\[object/);
      await narrow(page);
      await accessible(page);
      await page.screenshot({ path: join(pictures, name.replaceAll(" ", "-") + ".png"), fullPage: true });
      await close();
    });
  }

  test("rules and theories by name", async () => {
    for (const [name, options] of [["theory", ["--theory", "common"]], ["optimal", ["--labels", "optimal"]]]) {
      const file = report(name, problems.costs, ...options);
      const { page, complaints, close } = await open(file);
      assert.equal(await page.evaluate(() => window.foretask.mode), "law");
      const { thresholds } = embedded(file).report;
      for (let i = 0; i <= 200; i += 5) {
        await type(page, "#threshold-number", thresholds[i][0]);
        const { classErrors } = await now(page);
        assert.deepEqual(classErrors, thresholds[i].slice(1));
      }
      assert.deepEqual(complaints, []);
      await close();
    }
  });
});

/** Nothing is wider than the window. */
async function wide(page, what) {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(over <= 0, what + ": " + over + " pixels too wide");
}
async function narrow(page) {
  await page.setViewportSize({ width: 375, height: 740 });
  await page.waitForTimeout(100);
  await wide(page, "375");
}
async function accessible(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document));
  assert.deepEqual(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html.slice(0, 200))]), []);
}

describe("everybody can use it", { timeout: 300_000 }, () => {
  for (const name of ["two", "ten", "costs", "alarm", "many"]) {
    for (const colorScheme of ["light", "dark"]) {
      test(`${name}, ${colorScheme}: axe finds nothing, three sizes`, async () => {
        // The tests' own script is not the page's: the policy is lifted for it alone.
        const { page, close } = await open(pages[name], { colorScheme, bypassCSP: true });
        await page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));
        await accessible(page);
        await page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = false; }));
        for (const [width, height] of [[1280, 900], [768, 1024], [375, 740]]) {
          await page.setViewportSize({ width, height });
          await page.waitForTimeout(120);
          await wide(page, String(width));
          await page.screenshot({ path: join(pictures, `report-${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
        await close();
      });
    }
    test(name + " prints to two pages", async () => {
      const { page, close } = await open(pages[name]);
      const pdf = await page.pdf({ path: join(pictures, `report-${name}.pdf`), preferCSSPageSize: true, printBackground: true });
      const count = pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g).length;
      assert.ok(count <= 2, count + " pages");
      await close();
    });
  }

  test("by keyboard alone", async () => {
    const { page, close } = await open(pages.two);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
    const reach = async (id) => {
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press("Tab");
        if ((await page.evaluate(() => document.activeElement.id)) === id) return;
      }
      assert.fail(id + " cannot be reached");
    };
    await reach("threshold");
    const before = await now(page);
    for (let i = 0; i < 60; i++) await page.keyboard.press("ArrowRight");
    const moved = await now(page);
    assert.ok(moved.threshold > before.threshold);
    assert.ok(moved.classErrors[0] > before.classErrors[0] && moved.classErrors[1] <= before.classErrors[1]);
    assert.match(await page.locator("#threshold").getAttribute("aria-valuetext"), /threshold .* error/);
    await reach("best");
    await page.keyboard.press("Enter");
    assert.equal((await now(page)).threshold, before.threshold);
    await reach("added");
    const told = await page.locator("#curve-says").textContent();
    await page.keyboard.press("End");
    assert.notEqual(await page.locator("#curve-says").textContent(), told);
    await close();
  });

  test("by dragging the threshold", async () => {
    const { page, close } = await open(pages.two);
    const box = await page.locator("#densities svg").boundingBox();
    const before = await now(page);
    await page.mouse.move(box.x + box.width / 2, box.y + 80);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.8 * box.width, box.y + 80, { steps: 5 });
    await page.mouse.up();
    const moved = await now(page);
    assert.ok(moved.threshold > before.threshold && moved.classErrors[0] > before.classErrors[0]);
    await close();
  });
});
