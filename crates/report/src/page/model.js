// The trace, and what can be computed from it: which locks are held after a step, what is in flight.
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
const color = (lane) => `var(--c${lane % 8})`;

// An element with properties and children; strings become text, never markup.
function el(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "style") element.style.cssText = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// The same for a drawing.
function draw(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// The number of a step as the trace has it; a message that is no step of its own has none.
const numbered = (step) => (data.numbers[step - 1] === null ? "" : String(data.numbers[step - 1]));
const named = (step) => (numbered(step) ? `step ${numbered(step)}` : "a message");
const recorded = data.numbers.filter((number) => number !== null).length;

const [HOLD, WAIT] = [0, 1];
const spans = data.spans.map(([kind, lane, object, from, to, awaits]) => ({ kind, lane, object, from, to: to ?? Infinity, awaits }));
const flights = data.flights.map(([number, fromLane, from, toLane, to, note, arrives]) => ({ number, fromLane, from, toLane, to, note, arrives, message: data.messages[number] }));
const race = new Set(data.race);
const connectionOf = (message) => [message.from, message.to].sort().join(" ↔ ");
// The connections that a step sends or receives on.
const connections = data.steps.map(() => []);
for (const flight of flights) {
  const name = connectionOf(flight.message);
  for (const step of [flight.from, flight.arrives ? flight.to : flight.from]) {
    if (connections[step] && !connections[step].includes(name)) connections[step].push(name);
  }
}

function quoted(message, width) {
  const characters = [...message.content];
  const whole = message.whole && characters.length <= width;
  return whole ? `"${message.content}"` : `"${characters.slice(0, width).join("")}…" ${message.length} bytes`;
}

// What there is after so many steps: of each lane what it holds and waits for, what is in flight on each
// connection, and the lines of the state.
function situation(steps) {
  const holds = data.lanes.map(() => []), waits = data.lanes.map(() => []);
  for (const span of spans) {
    if (span.from <= steps && steps < span.to) (span.kind === HOLD ? holds : waits)[span.lane].push(span.object);
  }
  const queues = new Map();
  data.messages.forEach((message, number) => {
    const gone = message.lost && message.sent <= steps;
    const last = message.arrivals.length ? Math.max(...message.arrivals) : Infinity;
    if (message.sent > steps || gone || last <= steps) return;
    const way = `${message.from} → ${message.to}`;
    if (!queues.has(way)) queues.set(way, []);
    queues.get(way).push(`${quoted(message, 40)} (sent in ${named(message.sent)})`);
  });
  const lines = steps === 0 ? data.initial : data.steps[steps - 1].state || [];
  return { holds, waits, queues, state: lines.map((line) => data.lines[line]) };
}

// Items of now and before: [text, "" | "plus" | "minus"].
function difference(before, now) {
  const left = [...before];
  const items = now.map((item) => {
    const at = left.indexOf(item);
    if (at < 0) return [item, "plus"];
    left.splice(at, 1);
    return [item, ""];
  });
  return items.concat(left.map((item) => [item, "minus"]));
}

// A short name for a narrow lane.
function shortName(name, room) {
  if (name.length <= room) return name;
  const parts = name.match(/^(?:(.*): )?(?:thread (\d+)|(.*?))(?: \(.*\))?$/) || [];
  const thread = parts[2] ? `t${parts[2]}` : parts[3] || "";
  const short = parts[1] ? (thread === "main" ? parts[1] : `${parts[1]} ${thread}`) : thread || name;
  return short.length <= room ? short : `${short.slice(0, Math.max(1, room - 1))}…`;
}

const EVENTLESS = new Set(["start", "create", "exit"]);
// Whether a step shows something that a folded chart must not hide.
const matters = (() => {
  const marked = new Set([...data.race, data.critical]);
  for (const flight of flights) marked.add(flight.from + 1).add(flight.to + 1);
  for (const span of spans) if (span.to === Infinity) marked.add(span.from);
  return (step) => {
    const it = data.steps[step - 1];
    return marked.has(step) || it.preempts || it.timeout || it.fault || step > data.steps.length - 8 || (step > 1 && data.steps[step - 2].lane !== it.lane) || (data.steps.length < 200 && EVENTLESS.has(it.event));
  };
})();
