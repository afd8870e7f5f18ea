// Tables that the reports are made of, all deterministic.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = new URL("..", import.meta.url).pathname;

/** The digits of the demo: 8 x 8 pixels of five bits each, and a label. */
function digits() {
  const bytes = readFileSync(join(root, "crates/foretask-cli/data/digits.bin"));
  const images = [];
  for (let start = 0; start + 41 <= bytes.length; start += 41) {
    const pixels = [];
    for (let group = 0; group < 40; group += 5) {
      let bits = 0n;
      for (let i = 0; i < 5; i++) bits = (bits << 8n) | BigInt(bytes[start + group + i]);
      for (let pixel = 7n; pixel >= 0n; pixel--) pixels.push(Number((bits >> (5n * pixel)) & 31n));
    }
    images.push({ pixels, label: bytes[start + 40] });
  }
  return images;
}

/** A generator of normal numbers (Lehmer, Box-Muller). */
export function normals(seed) {
  let state = seed;
  const uniform = () => (state = (state * 48271) % 2147483647) / 2147483647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

const cell = (text) => '"' + String(text).replaceAll('"', '""') + '"';
export function csv(path, header, rows) {
  writeFileSync(path, [header, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n");
}

/** Without the columns that do not vary in the target: the command line leaves out those that do not vary in a file. */
function varying(rows, target) {
  const own = rows.filter(([task]) => task === target);
  const kept = own[0].map((_, i) => i < 2 || own.some((row) => row[i] !== own[0][i]));
  return (row) => row.filter((_, i) => kept[i]);
}

const header = (features) => ["task", "label", ...Array.from({ length: features }, (_, i) => "f" + i)];

/** Pairs of digits: 8 or 9 with few labels, four other pairs with more; and images of the target to test on. */
export function pairs(folder) {
  const found = {};
  const rows = [], test = [];
  for (const { pixels, label } of digits()) {
    const task = "pair " + Math.floor(label / 2);
    const seen = (found[label] = (found[label] || 0) + 1);
    if (label >= 8 ? seen <= 10 + 4 * (label - 8) : seen <= 60) rows.push([task, label, ...pixels]);
    else if (label >= 8) test.push([task, label, ...pixels]);
  }
  const kept = varying(rows, "pair 4"), names = kept(header(64));
  csv(join(folder, "pairs.csv"), names, rows.map(kept));
  csv(join(folder, "pairs-test.csv"), names, test.map(kept));
  return { file: join(folder, "pairs.csv"), test: join(folder, "pairs-test.csv"), target: "pair 4" };
}

/** All ten digits, of two halves of the images. */
export function ten(folder) {
  const found = {};
  const rows = digits().flatMap(({ pixels, label }) => {
    const seen = (found[label] = (found[label] || 0) + 1);
    return seen <= 7 ? [["few", "digit " + label, ...pixels]] : seen <= 30 ? [["many", "digit " + label, ...pixels]] : [];
  });
  const kept = varying(rows, "few");
  csv(join(folder, "ten.csv"), kept(header(64)), rows.map(kept));
  return { file: join(folder, "ten.csv"), target: "few" };
}

/** Gaussian classes: tasks of given names, so many samples per class, and how far classes are apart. */
export function drawn(folder, name, tasks, classes, features, seed) {
  const normal = normals(seed);
  const rows = [];
  for (const { task, count, apart } of tasks) {
    classes.forEach((label, c) => {
      const own = Array.isArray(count) ? count[c] : count;
      for (let i = 0; i < own; i++)
        rows.push([task, label, ...Array.from({ length: features }, (_, f) => (normal() + (f % classes.length === c ? apart : 0)).toFixed(4))]);
    });
  }
  const file = join(folder, name + ".csv");
  csv(file, header(features), rows);
  return { file, target: tasks[tasks.length - 1].task };
}
