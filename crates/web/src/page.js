"use strict";
// The page of everypath serve: everything is written as text, never as markup.
const byId = (id) => document.getElementById(id);
function el(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
const get = async (path) => (await fetch(path)).json();
const number = (value) => Number(value).toLocaleString("en");

function result(it) {
  if (it.kind === "unreadable") return el("div", { class: "card" }, el("b", { class: "inconclusive" }, "UNREADABLE"), it.reason, el("span", { class: "file" }, it.file));
  const verdict = el("b", { class: it.verdict || "" }, String(it.verdict || "").toUpperCase());
  const words = it.kind === "trace" ? `${it.steps} steps, ${it.messages} messages` : [it.coverage, it.executions ? `${number(it.executions)} executions` : null, it.states ? `${number(it.states)} states` : null, it.reason].filter(Boolean).join(", ");
  const said = it.kind === "trace" ? it.title.replace(/^VIOLATED: /, "") : it.property ? `${it.property} of ${it.title}` : it.title;
  const title = it.kind === "trace" && it.verdict !== "violated" ? said : [verdict, said];
  const parts = [title, el("span", { class: "file" }, `${it.file} · ${words}`)].flat();
  return it.kind === "trace" ? el("a", { class: "card trace", href: `trace?file=${encodeURIComponent(it.file)}` }, ...parts) : el("div", { class: "card" }, ...parts);
}

let known = "";
async function results() {
  const found = await get("api/results"), text = JSON.stringify(found);
  if (text === known) return;
  known = text;
  byId("results").replaceChildren(...(found.length ? found.map(result) : [el("p", { class: "quiet" }, "No trace and no result here yet: check writes them with --trace and --json.")]));
}

const before = new Map();
async function running() {
  const found = await get("api/running");
  const card = (it) => {
    const last = before.get(it.pid), work = it.executions || it.states;
    const rate = last && it.seconds > last.seconds ? (work - last.work) / (it.seconds - last.seconds) : work / Math.max(it.seconds, 0.001);
    before.set(it.pid, { work, seconds: it.seconds });
    const unit = it.executions || it.command.startsWith("check ") ? "executions" : "states";
    const facts = [[number(work), unit], [number(Math.max(0, Math.round(rate))), `${unit}/s`], [number(it.events), "steps"]];
    if (it.depth) facts.push([number(it.depth), "depth"]);
    if (it.frontier) facts.push([number(it.frontier), it.executions ? "at least left" : "in the frontier"], [`${(Math.floor((1000 * work) / (work + it.frontier)) / 10).toFixed(1)} %`, "explored at most"]);
    return el("div", { class: "card" }, el("span", { class: "file" }, `everypath ${it.command} · ${Math.round(it.seconds)} s`), el("div", { class: "numbers" }, facts.map(([value, name]) => el("span", {}, el("b", {}, value), name))));
  };
  byId("running").replaceChildren(...(found.length ? found.map(card) : [el("p", { class: "quiet" }, "Nothing runs.")]));
}

let models = [], steps = [], taken = [], shown = [];
const bugs = () => [...document.querySelectorAll("#bugs input:checked")].map((box) => box.value);
async function step() {
  const answer = await fetch("api/model", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ model: byId("model").value, bugs: bugs(), steps }) });
  if (!answer.ok) { byId("violated").textContent = await answer.text(); return; }
  const state = await answer.json();
  byId("violated").textContent = state.violated.map(([property, why]) => `VIOLATED ${property}: ${why}`).join("; ");
  byId("enabled").replaceChildren(...state.enabled.map((text, at) => el("button", { onclick: () => { steps.push(at); taken.push(text); step(); } }, text)), ...(state.enabled.length ? [] : [el("p", { class: "quiet" }, "No event is enabled.")]));
  const lines = state.state.map(([part, text]) => `${part}\n${text}`);
  byId("state").replaceChildren(...state.state.flatMap(([part, text]) => [el("dt", {}, part), el("dd", { class: shown.length && !shown.includes(`${part}\n${text}`) ? "new" : "" }, text)]));
  shown = lines;
  byId("taken").replaceChildren(...taken.map((text) => el("li", {}, text)));
}
function restart() { steps = []; taken = []; shown = []; step(); }
function choose() {
  const model = models.find((it) => it.name === byId("model").value);
  byId("bugs").replaceChildren(...(model?.bugs || []).map((name) => el("label", {}, el("input", { type: "checkbox", value: name, onchange: restart }), ` ${name}`)));
  restart();
}
(async () => {
  models = await get("api/models");
  byId("model").append(...models.map((it) => el("option", { value: it.name }, `${it.name}: ${it.about}`)));
  byId("model").addEventListener("change", choose);
  byId("back").addEventListener("click", () => { steps.pop(); taken.pop(); step(); });
  byId("restart").addEventListener("click", restart);
  if (models.length) choose();
  await results();
  await running();
  setInterval(() => running().catch(() => {}), 1000);
  setInterval(() => results().catch(() => {}), 2000);
})();
