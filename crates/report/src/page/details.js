// The selected step: what it does, where, and what is the case after it.
const details = (() => {
  const box = byId("details");

  function chips(step) {
    const it = data.steps[step - 1], found = [];
    if (data.critical === step) found.push(["critical step: every continuation fails", "bad"]);
    if (race.has(step)) found.push(["racing pair", "warn"]);
    if (it.preempts) found.push(["preemption", "warn"]);
    if (it.timeout) found.push(["time-out", "warn"]);
    if (it.fault) found.push([`fault: ${it.fault}`, "bad"]);
    return found.length ? el("div", { class: "chips" }, found.map(([text, kind]) => el("span", { class: `tag ${kind}` }, text))) : null;
  }

  function source(file, line) {
    for (const [first, lines] of data.sources[file] || []) {
      if (line < first || line >= first + lines.length) continue;
      const from = Math.max(first, line - 5), to = Math.min(first + lines.length - 1, line + 5), shown = [];
      for (let at = from; at <= to; at++) shown.push(el("span", { class: at === line ? "hot" : "" }, el("i", {}, String(at)), lines[at - first] || " "));
      return el("pre", { class: "source", "aria-label": `${file}, line ${line}` }, shown);
    }
    return el("p", { class: "quiet" }, "The source is not in the trace: it could not be read when that was recorded.");
  }

  // A stack, with the source of the frame that is chosen below it.
  function stack(frames) {
    const place = el("div", {});
    const show = (frame, button) => {
      for (const other of list.querySelectorAll("button")) other.setAttribute("aria-current", other === button);
      place.replaceChildren(...(frame[1] && frame[2] ? [source(frame[1], frame[2])] : []));
    };
    const list = el("ol", { class: "stack" }, frames.map((frame) => {
      const where = frame[1] ? ` ${frame[1]}${frame[2] ? `:${frame[2]}` : ""}` : "";
      const button = el("button", { type: "button" }, frame[0], el("span", { class: "loc" }, where));
      button.addEventListener("click", () => show(frame, button));
      return el("li", {}, button);
    }));
    const known = frames.findIndex((frame) => frame[1] && data.sources[frame[1]]);
    const chosen = Math.max(0, known);
    if (frames[chosen]) show(frames[chosen], list.querySelectorAll("button")[chosen]);
    return [list, place];
  }

  const entry = ([text, kind]) => el("span", { class: `item ${kind}` }, text);

  function comparison(step, base) {
    const [before, now] = [situation(base), situation(step)];
    const parts = [], heading = `After this step, compared with ${base === 0 ? "the start" : named(base)}`;
    const rows = [];
    data.lanes.forEach((lane, number) => {
      const say = (of) => of.holds[number].map((it) => `holds ${it}`).concat(of.waits[number].map((it) => `waits for ${it}`));
      const items = difference(say(before), say(now));
      if (items.length) rows.push(el("dt", { style: `color:${color(number)}` }, lane.name), el("dd", {}, items.map(entry)));
    });
    if (rows.length) parts.push(el("h2", {}, "Locks and waits"), el("dl", { class: "pairs" }, rows));
    const ways = [...new Set([...before.queues.keys(), ...now.queues.keys()])], queues = [];
    for (const way of ways) queues.push(el("dt", {}, way), el("dd", { class: "mono" }, difference(before.queues.get(way) || [], now.queues.get(way) || []).map(entry)));
    if (queues.length) parts.push(el("h2", {}, "In flight"), el("dl", { class: "pairs" }, queues));
    const state = states(before.state, now.state);
    if (state.length) parts.push(el("h2", {}, "State"), el("dl", { class: "pairs" }, state));
    if (!parts.length) parts.push(el("p", { class: "quiet" }, "No lock is held, nobody waits, nothing is in flight."));
    return [el("h2", {}, heading), ...parts];
  }

  function states(before, now) {
    const parts = [...new Set([...now, ...before].map(([part]) => part))];
    const texts = (of, part) => of.filter(([name]) => name === part).map(([, text]) => text);
    return parts.flatMap((part) => [el("dt", {}, part), el("dd", {}, difference(before.length ? texts(before, part) : texts(now, part), texts(now, part)).map(entry))]);
  }

  function messages(step) {
    const found = [];
    const where = (text, at) => [text, el("a", { class: "jump", href: `#step=${at}` }, named(at))];
    flights.forEach((flight) => {
      const { message } = flight;
      const content = el("span", { class: "mono" }, quoted(message, 120));
      const kind = message.datagram ? "datagram" : "stream";
      if (flight.from === step - 1 && flight.note !== "duplicate") found.push(el("dt", {}, `sent (${kind})`), el("dd", {}, content, ` ${message.from} → ${message.to} `, flight.note ? el("span", { class: "tag warn" }, flight.note) : null, flight.arrives && flight.to !== flight.from ? where(" arrives in ", flight.to + 1) : null));
      if (flight.arrives && flight.to === step - 1 && flight.to !== flight.from) found.push(el("dt", {}, `received (${kind})`), el("dd", {}, content, ` ${message.from} → ${message.to} `, flight.note ? el("span", { class: "tag warn" }, flight.note) : null, where(" sent in ", flight.from + 1)));
    });
    return found.length ? [el("h2", {}, "Messages"), el("dl", { class: "pairs" }, found)] : [];
  }

  function before(step) {
    const steps = data.steps[step - 1].after || [];
    if (!steps.length) return [];
    const links = steps.flatMap((at, number) => [number ? ", " : "", el("a", { class: "jump", href: `#step=${at}` }, named(at)), ` (${data.lanes[data.steps[at - 1].lane].name})`]);
    return [el("p", { class: "quiet" }, "Happens after ", links)];
  }

  // Who waits for whom at the end, if that is known.
  function cycle() {
    const waits = spans.filter((span) => span.kind === WAIT && span.to === Infinity && span.awaits !== null && span.awaits !== undefined);
    const lanes = [...new Set(waits.flatMap((span) => [span.lane, span.awaits]))];
    if (lanes.length < 2 || lanes.length > 9) return [];
    const [width, tall] = [400, 60 + 40 * Math.max(2, lanes.length)], at = new Map();
    lanes.forEach((lane, number) => {
      const angle = -Math.PI / 2 + (2 * Math.PI * number) / lanes.length;
      at.set(lane, [width / 2 + 130 * Math.cos(angle), tall / 2 + (tall / 2 - 24) * Math.sin(angle)]);
    });
    const picture = draw("svg", { class: "cycle", viewBox: `0 0 ${width} ${tall}`, role: "img", "aria-label": "who waits for whom" });
    for (const span of waits) {
      let [[x1, y1], [x2, y2]] = [at.get(span.lane), at.get(span.awaits)];
      const length = Math.hypot(x2 - x1, y2 - y1) || 1, [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
      // Two that wait for each other have an arrow each, side by side.
      const aside = waits.some((other) => other.lane === span.awaits && other.awaits === span.lane) ? 7 : 0;
      [x1, y1, x2, y2] = [x1 - uy * aside, y1 + ux * aside, x2 - uy * aside, y2 + ux * aside];
      const cut = Math.min(46 / Math.max(Math.abs(ux), 0.3), 18 / Math.max(Math.abs(uy), 0.01), length / 2.4);
      const [ex, ey] = [x2 - ux * cut, y2 - uy * cut];
      const tip = `M${ex - 8 * ux - 4 * uy} ${ey - 8 * uy + 4 * ux}L${ex} ${ey}L${ex - 8 * ux + 4 * uy} ${ey - 8 * uy - 4 * ux}`;
      picture.append(draw("path", { d: `M${x1 + ux * cut} ${y1 + uy * cut}L${ex} ${ey}${tip}` }));
      // Its name on the outer side, so that neither covers the other.
      const [tx, ty] = aside ? [(x1 + x2) / 2 - uy * 8, (y1 + y2) / 2 + 4 + ux * 14] : [(x1 + x2) / 2 + 8, (y1 + y2) / 2 - 4];
      const anchor = !aside || Math.abs(uy) < 0.5 ? "middle" : uy < 0 ? "start" : "end";
      picture.append(draw("text", { x: tx, y: ty, "text-anchor": anchor }, span.object.length > 22 ? `${span.object.slice(0, 21)}…` : span.object));
    }
    for (const [lane, [x, y]] of at) {
      const name = shortName(data.lanes[lane].name, 12);
      picture.append(draw("rect", { x: x - 44, y: y - 14, width: 88, height: 28, rx: 7, stroke: color(lane) }));
      picture.append(draw("text", { x, y: y + 4, "text-anchor": "middle" }, name));
    }
    return [el("h2", {}, "Who waits for whom at the end"), picture];
  }

  // Where the threads are that the violation is about: of a data race, the two accesses, which are no steps.
  function places(step) {
    if (step !== data.steps.length || !data.places.length) return [];
    const heading = data.property === "data race" ? "The racing accesses" : "Where the violation is";
    return [el("h2", {}, heading), ...data.places.flatMap((place) => [el("p", { class: "place" }, el("b", {}, place.actor), data.property === "data race" ? " is about to access it here:" : ` ${place.text}`), ...stack(place.stack)])];
  }

  function show(step, marked) {
    const it = data.steps[step - 1];
    if (!it) return box.replaceChildren(el("p", {}, "The property is violated in the initial state."), el("dl", { class: "pairs" }, states([], situation(0).state)));
    const base = marked !== null && marked !== step ? Math.min(marked, step) : step - 1;
    const later = marked !== null && marked !== step ? Math.max(marked, step) : step;
    const parts = [el("h2", {}, numbered(step) ? `Step ${numbered(step)} of ${recorded}` : "Message"), el("p", { class: "step" }, el("span", { class: "who", style: `color:${color(it.lane)}` }, data.lanes[it.lane].name), it.text), chips(step), ...before(step), ...messages(step)];
    if (it.stack !== undefined) parts.push(el("h2", {}, "Stack and source"), ...stack(data.stacks[it.stack]));
    parts.push(...places(step), ...comparison(later, base), ...cycle());
    box.replaceChildren(...parts.filter(Boolean));
  }
  return { show };
})();
