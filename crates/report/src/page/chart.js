// The chart: lanes and steps. Only the rows that can be seen are in the document.
const chart = (() => {
  const list = byId("list"), inner = byId("inner"), rowsBox = byId("rows"), lines = byId("lines"), head = byId("lanes");
  const narrow = () => list.clientWidth < 600;
  let rows = [], rowOf = [], height = 44, numbers = 44, laneWidth = 40, first = -1, last = -1, selected = 1, marked = null;
  const x = (lane) => numbers + laneWidth * lane + laneWidth / 2;
  const y = (step) => rowOf[step] * height + height / 2;

  // Which steps are rows: all, those that match, or those that show something, with the others folded.
  function arrange(matches, folds, opened) {
    rows = [];
    rowOf = new Array(data.steps.length + 1).fill(-1);
    for (let step = 1; step <= data.steps.length; step++) {
      if (matches) {
        if (matches(step)) { rowOf[step] = rows.length; rows.push({ step }); }
        else rowOf[step] = Math.max(0, rows.length - 1);
        continue;
      }
      let end = step;
      if (folds) while (end <= data.steps.length && !matters(end)) end++;
      if (end - step >= 4 && !opened.has(step)) {
        for (let inside = step; inside < end; inside++) rowOf[inside] = rows.length;
        rows.push({ fold: step, count: end - step });
        step = end - 1;
      } else {
        for (const until = Math.max(end, step + 1); step < until; step++) { rowOf[step] = rows.length; rows.push({ step }); }
        step--;
      }
    }
    measure();
  }

  function measure() {
    numbers = narrow() ? 30 : 44;
    const room = (list.clientWidth - numbers) * (narrow() ? 0.4 : 0.46);
    laneWidth = Math.max(narrow() ? 16 : 22, Math.min(flights.length ? 130 : narrow() ? 36 : 64, room / Math.max(1, data.lanes.length)));
    height = narrow() ? 72 : 44;
    inner.style.height = `${rows.length * height}px`;
    const wanted = numbers + laneWidth * data.lanes.length + 160;
    inner.style.minWidth = wanted > list.clientWidth ? `${wanted}px` : "";
    names();
    first = last = -1;
    paint();
  }

  function names() {
    head.replaceChildren(...data.lanes.map((lane, number) => {
      const up = laneWidth < 74 && data.lanes.length > 1;
      const room = laneWidth * (up ? 2 : 1) - 4;
      const left = Math.max(x(number) - list.scrollLeft, Math.min(room, 60) / 2);
      return el("span", { title: lane.name, class: up && number % 2 ? "up" : "", style: `left:${left}px;max-width:${room}px;color:${color(number)}` }, shortName(lane.name, Math.max(2, Math.floor(room / 7.2))));
    }));
  }

  function tags(step, it) {
    const found = [];
    if (data.critical === step) found.push(["critical", "bad"]);
    if (race.has(step)) found.push(["racing", "warn"]);
    if (it.preempts) found.push(["preemption", "warn"]);
    if (it.timeout) found.push(["time-out", "warn"]);
    if (it.fault) found.push([it.fault, "bad"]);
    return found.map(([text, kind]) => el("span", { class: `tag ${kind}`, title: text }, text));
  }

  function row(at) {
    const it = rows[at], style = `top:${at * height}px;height:${height}px`;
    const space = el("span", { class: "space", style: `width:${laneWidth * data.lanes.length}px` });
    if (it.fold) {
      const name = data.lanes[data.steps[it.fold - 1].lane].name;
      const what = `⋯ ${it.count} steps of ${narrow() ? shortName(name, 14) : name}`;
      return el("div", { class: "row folded", style, "data-fold": it.fold, role: "option", title: "show them" }, el("span", { class: "n" }), space, el("span", { class: "what" }, what));
    }
    const step = data.steps[it.step - 1];
    const classes = ["row", data.critical === it.step ? "crit" : race.has(it.step) ? "race" : "", it.step === selected ? "sel" : "", it.step === marked ? "marked" : ""].join(" ");
    const about = [];
    for (const flight of flights) {
      if (flight.from === it.step - 1 && !data.lanes[flight.fromLane].outside) about.push(`→ ${quoted(flight.message, 24)} ${flight.note}`);
      else if (flight.arrives && flight.to === it.step - 1 && !data.lanes[flight.toLane].outside) about.push(`← ${quoted(flight.message, 24)} ${flight.note}`);
    }
    const below = el("span", { class: "p" }, about.length ? el("span", { class: "sends", title: about.join("  ") }, [...new Set(about)].join("  ").trim()) : null, step.place ? el("span", { class: "loc", title: step.place }, `\u200e${step.place}\u200e`) : null);
    const what = el("span", { class: "what" }, el("span", { class: "t", title: step.text }, el("span", {}, el("b", { style: `color:${color(step.lane)}` }, shortName(data.lanes[step.lane].name, 14)), ` ${step.text}`), tags(it.step, step)), below);
    return el("div", { class: classes, style, "data-step": it.step, role: "option", "aria-selected": it.step === selected ? "true" : "false", id: `step-${it.step}` }, el("span", { class: "n" }, numbered(it.step)), space, what);
  }

  // Draws what can be seen, if that is not drawn yet.
  function paint(force) {
    const from = Math.max(0, Math.floor(list.scrollTop / height) - 12);
    const to = Math.min(rows.length - 1, Math.ceil((list.scrollTop + list.clientHeight) / height) + 12);
    if (!force && from === first && to === last) return;
    [first, last] = [from, to];
    const shown = [];
    for (let at = from; at <= to; at++) shown.push(row(at));
    rowsBox.replaceChildren(...shown);
    overlay(from, to);
  }

  function overlay(from, to) {
    const top = from * height, bottom = (to + 1) * height;
    lines.setAttribute("width", numbers + laneWidth * data.lanes.length + 20);
    lines.setAttribute("height", Math.max(0, bottom - top));
    lines.style.top = `${top}px`;
    const parts = [];
    const seen = (one, other) => Math.max(one, other) >= top && Math.min(one, other) <= bottom;
    data.lanes.forEach((lane, number) => parts.push(draw("line", { class: "life", x1: x(number), x2: x(number), y1: 0, y2: bottom - top, "stroke-dasharray": lane.outside ? "1 5" : "" })));
    bars(parts, top, bottom, seen);
    edges(parts, top, seen);
    for (let at = from; at <= to; at++) {
      const step = rows[at] && rows[at].step;
      if (!step) continue;
      const lane = data.steps[step - 1].lane;
      parts.push(draw("circle", { cx: x(lane), cy: at * height + height / 2 - top, r: Math.min(6, laneWidth / 3), fill: color(lane), stroke: "var(--bg)", "stroke-width": 2 }));
    }
    arrows(parts, top, seen);
    lines.replaceChildren(...parts);
  }

  function bars(parts, top, bottom, seen) {
    const busy = data.lanes.map(() => []);
    for (const span of spans) {
      const end = span.to === Infinity ? rows.length * height : y(span.to), start = y(span.from);
      if (span.kind === HOLD) {
        let slot = busy[span.lane].findIndex((until) => until <= span.from);
        if (slot < 0) slot = busy[span.lane].length;
        busy[span.lane][slot] = span.to;
        span.slot = slot;
      }
      if (!seen(start, end)) continue;
      const [up, down] = [Math.max(start, top) - top, Math.min(end, bottom) - top];
      if (span.kind === WAIT) parts.push(draw("line", { class: "wait", x1: x(span.lane), x2: x(span.lane), y1: up, y2: down }));
      else parts.push(draw("rect", { x: x(span.lane) - Math.min(8, laneWidth / 3) + 5 * Math.min(span.slot, 4), y: up, width: Math.min(16, laneWidth / 1.6), height: Math.max(3, down - up), rx: 3, fill: color(span.lane), "fill-opacity": "var(--hold)" }));
    }
  }

  // The racing pair, and what happens directly before the selected step.
  function edges(parts, top, seen) {
    const curve = (one, other, name) => {
      const [x1, x2, y1, y2] = [x(data.steps[one - 1].lane), x(data.steps[other - 1].lane), y(one), y(other)];
      if (!seen(y1, y2)) return;
      const bend = Math.max(x1, x2) + laneWidth * 0.6;
      parts.push(draw("path", { class: name, d: `M${x1} ${y1 - top}C${bend} ${y1 - top} ${bend} ${y2 - top} ${x2} ${y2 - top}` }));
    };
    if (data.race.length === 2) curve(data.race[0], data.race[1], "racing");
    for (const before of data.steps[selected - 1]?.after || []) if (data.steps[before - 1]) curve(before, selected, "edge");
  }

  function arrows(parts, top, seen) {
    // Of messages that are sent in one row between two lanes, the first has its content there.
    const labelled = new Set();
    for (const flight of flights) {
      const row = y(flight.from + 1);
      // What a process outside sends and nobody reads lies below the arrow to which it is an answer.
      const aside = !flight.arrives && data.lanes[flight.fromLane].outside ? 10 : 0;
      const [y1, y2] = [row + aside, y(flight.to + 1) + aside];
      if (!seen(y1, y2)) continue;
      const [x1, far] = [x(flight.fromLane), x(flight.toLane)];
      const stroke = flight.note === "lost" ? "var(--bad)" : flight.note === "late" || flight.note === "duplicate" ? "var(--warn)" : flight.arrives ? color(flight.fromLane) : "var(--dim)";
      const dashes = flight.note === "duplicate" ? "6 4" : flight.note === "not read" ? "2 4" : "";
      if (x1 === far) {
        const down = y2 === y1 ? y1 + height / 3 : y2, bend = x1 + laneWidth / 2;
        parts.push(draw("path", { class: "arrow", stroke, d: `M${x1} ${y1 - top}C${bend} ${y1 - top} ${bend} ${down - top} ${x1 + 7} ${down - top}` }));
        continue;
      }
      const x2 = flight.arrives ? far - Math.sign(far - x1) * 6 : (x1 + far) / 2;
      parts.push(draw("line", { class: "arrow", stroke, "stroke-dasharray": dashes, x1, y1: y1 - top, x2, y2: y2 - top }));
      if (flight.note === "lost") {
        const at = y1 - top;
        parts.push(draw("path", { d: `M${x2 - 5} ${at - 5}L${x2 + 5} ${at + 5}M${x2 - 5} ${at + 5}L${x2 + 5} ${at - 5}`, stroke, "stroke-width": 2.5 }));
      } else if (flight.arrives) {
        const angle = Math.atan2(y2 - y1, x2 - x1), tip = [x2, y2 - top];
        const wing = (turn) => `${tip[0] - 9 * Math.cos(angle + turn)},${tip[1] - 9 * Math.sin(angle + turn)}`;
        parts.push(draw("polygon", { points: `${tip.join(",")} ${wing(0.45)} ${wing(-0.45)}`, fill: stroke }));
      }
      const room = Math.floor((laneWidth - 14) / 6.8);
      const gap = `${row} ${far > x1 ? flight.fromLane : flight.fromLane - 1}`;
      if (room >= 8 && !narrow() && flight.note !== "duplicate" && !labelled.has(gap)) {
        labelled.add(gap);
        const right = far > x1;
        parts.push(draw("text", { x: x1 + (right ? 9 : -9), y: y1 - top - 4, "text-anchor": right ? "start" : "end", fill: stroke }, [...quoted(flight.message, room)].slice(0, room).join("")));
      }
    }
  }

  function select(step, mark) {
    selected = step;
    marked = mark;
    const at = rowOf[step] * height;
    if (at < list.scrollTop + height) list.scrollTop = Math.max(0, at - height * 2);
    else if (at + 2 * height > list.scrollTop + list.clientHeight) list.scrollTop = at + 3 * height - list.clientHeight;
    list.setAttribute("aria-activedescendant", `step-${step}`);
    paint(true);
  }

  list.addEventListener("scroll", () => { paint(); if (list.scrollLeft) names(); }, { passive: true });
  window.addEventListener("resize", measure);
  return { arrange, select, rows: () => rows, rowOf: (step) => rowOf[step] };
})();
