"use strict";
(() => {
  const root = document.documentElement;
  const find = (id) => document.getElementById(id);

  // The theme: that of the system, until the switch says otherwise.
  const theme = find("theme");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  theme.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
  });

  const copy = find("copy");
  copy.addEventListener("click", async () => {
    const code = find("command");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Without a clipboard, as in a page from a file in some browsers, the text is at least selected.
      const range = document.createRange();
      range.selectNodeContents(code);
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      copy.textContent = document.execCommand("copy") ? "Copied" : "Selected";
      return;
    }
    copy.textContent = "Copied";
  });

  const stored = find("data");
  if (!stored) return;
  const data = JSON.parse(stored.textContent);

  // How curves look: as in the pictures that --plot makes.
  const DASHES = ["", "8 3", "2.5 3", "9 3 2.5 3"];
  const MARKERS = ["circle", "square", "up", "diamond", "cross"];
  const style = (k) => ({ color: `var(--s${k % 8})`, dash: DASHES[k % 4], marker: MARKERS[k % 5] });

  const state = { x: 0, y: 0, logX: false, logY: data.y[0].log, hidden: new Set() };
  const views = [];
  const SVG = "http://www.w3.org/2000/svg";
  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (parent) parent.append(made);
    return made;
  };

  const readable = (value) => {
    if (value === null || !isFinite(value)) return "none";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || (size >= 1000 && Number.isInteger(value))) return Math.round(value).toLocaleString("en");
    if (size >= 1e-3) return String(Number(value.toPrecision(4)));
    return value.toExponential(2);
  };
  const short = (value) => {
    const size = Math.abs(value);
    for (const [unit, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
      if (size >= unit) return Number((value / unit).toPrecision(4)) + letter;
    }
    return size !== 0 && size < 1e-3 ? value.toExponential(0) : String(Number(value.toPrecision(4)));
  };
  const power = (k) => {
    if (k === 0) return "1";
    if (k === 1) return "10";
    return "10" + (k < 0 ? "⁻" : "") + [...String(Math.abs(k))].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("");
  };

  function ticks(lo, hi, log, most) {
    const all = [];
    if (log) {
      const [low, high] = [Math.log10(lo) - 1e-9, Math.log10(hi) + 1e-9];
      const count = Math.floor(high) - Math.ceil(low) + 1;
      if (count >= 2) {
        const every = [1, 2, 3, 4, 5, 8, 10, 20, 50].find((every) => Math.ceil(count / every) <= most) || 100;
        for (let k = Math.ceil(low); k <= high; k++) if (k % every === 0) all.push([10 ** k, power(k)]);
      }
      if (all.length < 2) {
        all.length = 0;
        for (let k = Math.floor(low); k <= high; k++) {
          for (const m of [1, 2, 5]) {
            const value = m * 10 ** k;
            if (Math.log10(value) >= low && Math.log10(value) <= high) all.push([value, short(value)]);
          }
        }
      }
      if (all.length >= 2) return all;
    }
    const rough = (hi - lo) / most;
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((step) => step >= 0.999 * rough) || rough;
    for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi * (1 + 1e-9); k++) all.push([k * step, short(k * step)]);
    return all;
  }

  // The range of an axis over all curves that are shown.
  function range(runs, log, of, isY) {
    let [lo, hi, first, zeros] = [Infinity, -Infinity, -Infinity, false];
    for (const run of runs) {
      let begun = false;
      for (const value of of(run)) {
        if (value === null || !isFinite(value)) continue;
        if (!begun) first = Math.max(first, value);
        begun = true;
        if (log && value <= 0) {
          zeros = true;
          continue;
        }
        lo = Math.min(lo, value);
        hi = Math.max(hi, value);
      }
    }
    if (lo > hi) return log ? [0.1, 1] : [0, 1];
    // A run that blows up leaves through the top.
    if (isY && first > 0 && hi > 100 * first) hi = 100 * first;
    if (log) {
      if (isY) {
        let low = Math.floor(Math.log10(lo) + 1e-9);
        if (zeros && Math.log10(lo) < low + 0.3) low -= 1;
        return [10 ** low, 10 ** Math.max(low + 1, Math.ceil(Math.log10(hi) - 1e-9))];
      }
      return [lo, Math.max(1.05 * hi, 10 * lo)];
    }
    if (!isY || lo >= 0) lo = Math.min(lo, 0);
    const room = 0.03 * (hi - lo) || 1;
    return [isY && lo < 0 ? lo - room : lo, hi + room];
  }

  function mark(group, x, y, kind, color, size, filled) {
    const fill = filled ? color : "var(--paper)";
    const paint = `fill:${fill};stroke:${color}`;
    const shapes = {
      square: [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
      up: [[0, -1.15], [1.05, 0.75], [-1.05, 0.75]],
      down: [[0, 1.15], [1.05, -0.75], [-1.05, -0.75]],
      diamond: [[0, -1.25], [1.1, 0], [0, 1.25], [-1.1, 0]],
    };
    if (kind === "circle") return element("circle", { cx: x, cy: y, r: size, style: paint }, group);
    if (kind === "cross") {
      const d = `M${x - size} ${y - size}l${2 * size} ${2 * size}m0 ${-2 * size}l${-2 * size} ${2 * size}`;
      return element("path", { d, style: `fill:none;stroke:${color};stroke-width:2` }, group);
    }
    const points = shapes[kind].map(([dx, dy]) => `${(x + size * dx).toFixed(1)},${(y + size * dy).toFixed(1)}`);
    return element("polygon", { points: points.join(" "), style: paint }, group);
  }

  class View {
    constructor(panel, parent, many) {
      this.panel = panel;
      this.zoom = null;
      this.figure = document.createElement("figure");
      if (panel.title) {
        const caption = document.createElement("figcaption");
        caption.textContent = panel.title;
        caption.title = panel.title;
        this.figure.append(caption);
      }
      this.svg = element("svg", { role: "img" }, this.figure);
      this.many = many;
      parent.append(this.figure);
      this.svg.addEventListener("pointermove", (event) => this.move(event));
      this.svg.addEventListener("pointerleave", () => this.leave());
      this.svg.addEventListener("pointerdown", (event) => this.press(event));
      this.svg.addEventListener("pointerup", (event) => this.release(event));
      this.svg.addEventListener("dblclick", () => {
        this.zoom = null;
        this.draw();
      });
    }

    shown() {
      return this.panel.runs.filter((run) => !state.hidden.has(run.name));
    }

    place(value, axis) {
      const { lo, hi, log, from, to } = axis;
      const part = log ? (value > 0 ? Math.log(value / lo) / Math.log(hi / lo) : 0) : (value - lo) / (hi - lo);
      return from + part * (to - from);
    }

    value(at, axis) {
      const { lo, hi, log, from, to } = axis;
      const part = (at - from) / (to - from);
      return log ? lo * (hi / lo) ** part : lo + part * (hi - lo);
    }

    draw() {
      const width = Math.max(200, this.figure.clientWidth);
      const height = this.many ? 190 : Math.round(Math.min(430, Math.max(260, 0.55 * width)));
      const font = 11;
      this.width = width;
      this.height = height;
      const runs = this.shown();
      const { logX, logY } = state;
      const full = { x: range(this.panel.runs, logX, (run) => run.x[state.x], false), y: range(data.panels.flatMap((panel) => panel.runs), logY, (run) => run.y[state.y], true) };
      const { x, y } = this.zoom || full;
      const yTicks = ticks(y[0], y[1], logY, Math.max(2, Math.floor(height / 45)));
      const left = 8 + Math.max(...yTicks.map(([, label]) => label.length)) * 6.6 + (this.many ? 0 : 16);
      const bottom = this.many ? 20 : 38;
      this.x = { lo: x[0], hi: x[1], log: logX, from: left, to: width - 12 };
      this.y = { lo: y[0], hi: y[1], log: logY, from: height - bottom, to: 8 };
      const svg = this.svg;
      svg.replaceChildren();
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.style.height = `${height}px`;
      svg.setAttribute("aria-label", `${data.y[state.y].title} against ${data.x[state.x]}`);
      for (const [value, label] of yTicks) {
        const at = this.place(value, this.y);
        element("line", { class: "grid", x1: left, x2: width - 12, y1: at, y2: at }, svg);
        element("text", { x: left - 5, y: at + 4, "text-anchor": "end" }, svg).textContent = label;
      }
      let taken = -Infinity;
      for (const [value, label] of ticks(x[0], x[1], logX, Math.max(2, Math.floor((width - left) / 75)))) {
        const at = this.place(value, this.x);
        const half = label.length * 3.3;
        element("line", { class: "axis", x1: at, x2: at, y1: height - bottom, y2: height - bottom + 4 }, svg);
        if (at - half > taken && at + half < width + 4) {
          element("text", { x: at, y: height - bottom + 6 + font, "text-anchor": "middle" }, svg).textContent = label;
          taken = at + half + 8;
        }
      }
      element("path", { class: "axis", d: `M${left} 8V${height - bottom}H${width - 12}` }, svg);
      if (!this.many) {
        element("text", { x: (left + width) / 2, y: height - 4, "text-anchor": "middle" }, svg).textContent = data.x[state.x];
        const at = `rotate(-90 11 ${(height - bottom) / 2})`;
        element("text", { x: 11, y: (height - bottom) / 2, "text-anchor": "middle", transform: at }, svg).textContent = data.y[state.y].title;
      }
      const id = `clip${views.indexOf(this)}`;
      const clip = element("clipPath", { id }, svg);
      element("rect", { x: left - 1, y: 6, width: Math.max(1, width - 11 - left), height: height - bottom - 3 }, clip);
      const group = element("g", { "clip-path": `url(#${id})` }, svg);
      const marks = element("g", {}, svg);
      this.points = [];
      const perName = new Map();
      for (const run of runs) perName.set(run.name, (perName.get(run.name) || 0) + 1);
      for (const run of runs) this.curve(run, group, marks, perName.get(run.name) > 1);
      this.dot = element("circle", { r: 4, fill: "none", "stroke-width": 2, visibility: "hidden" }, svg);
      this.area = element("rect", { class: "zoom", visibility: "hidden" }, svg);
    }

    curve(run, group, marks, several) {
      const { color, dash, marker } = style(run.name);
      const [xs, ys] = [run.x[state.x], run.y[state.y]];
      let [d, pen, last, length, floored] = ["", "M", null, 0, null];
      const path = [];
      for (let k = 0; k < xs.length; k++) {
        // What is no number is left out, and on an axis of ratios the start, at zero.
        if (ys[k] === null || xs[k] === null || (state.logX && xs[k] <= 0)) {
          pen = "M";
          last = null;
          continue;
        }
        const at = [this.place(xs[k], this.x), this.place(ys[k], this.y)];
        // Far outside of what is shown, numbers of any size would do.
        at[1] = Math.max(-1e4, Math.min(1e4, at[1]));
        at[0] = Math.max(-1e5, Math.min(1e5, at[0]));
        d += `${pen}${at[0].toFixed(1)} ${at[1].toFixed(1)}`;
        pen = "L";
        if (last) length += Math.hypot(at[0] - last[0], at[1] - last[1]);
        last = at;
        if (state.logY && ys[k] <= 0) floored ??= at;
        else path.push(at);
        this.points.push({ run, k, at });
      }
      const width = several ? 1.1 : 1.7;
      element("path", { class: "curve", d, style: `stroke:${color};stroke-width:${width}`, "stroke-dasharray": dash, "data-name": data.names[run.name] }, group);
      const inside = ([x, y]) => x >= this.x.from - 1 && x <= this.x.to + 1 && y <= this.y.from + 1 && y >= this.y.to - 1;
      const size = this.many ? 2.2 : 3;
      // Marks are at points of the data: at all if they are few, or about equally far from each other.
      // The end has one anyway.
      const few = path.length <= 5;
      const spacing = few ? 0 : length / 4;
      if ((few || spacing > 25) && !several) {
        let [gone, next] = [0, spacing * (0.15 + (0.7 * run.name) / data.names.length)];
        for (let k = 0; k < path.length - 1; k++) {
          if (k > 0) gone += Math.hypot(path[k][0] - path[k - 1][0], path[k][1] - path[k - 1][1]);
          if (gone < next || (!few && length - gone < 25)) continue;
          if (inside(path[k])) mark(marks, path[k][0], path[k][1], marker, color, size, true);
          next = gone + spacing;
        }
      }
      const end = path.at(-1);
      if (end && inside(end)) mark(marks, end[0], end[1], marker, color, size, true);
      if (floored && inside(floored)) mark(marks, floored[0], floored[1], "down", color, size + 1, false);
    }

    spot(event) {
      const box = this.svg.getBoundingClientRect();
      return [((event.clientX - box.left) / box.width) * this.width, ((event.clientY - box.top) / box.height) * this.height];
    }

    move(event) {
      const [x, y] = this.spot(event);
      if (this.pressed) {
        const [x0, y0] = this.pressed;
        const box = { x: Math.min(x, x0), y: Math.min(y, y0), width: Math.abs(x - x0), height: Math.abs(y - y0) };
        for (const key in box) this.area.setAttribute(key, box[key]);
        this.area.setAttribute("visibility", "visible");
        return this.quiet();
      }
      let [best, least] = [null, 60 ** 2];
      for (const point of this.points) {
        const away = (point.at[0] - x) ** 2 + (point.at[1] - y) ** 2;
        if (away < least) [best, least] = [point, away];
      }
      if (!best) return this.quiet();
      this.read(best);
    }

    read({ run, k, at }) {
      const reading = find("reading");
      const lines = [data.names[run.name] + (run.note ? `, ${run.note}` : "")];
      data.x.forEach((title, axis) => lines.push(`${title}: ${readable(run.x[axis][k])}`));
      data.y.forEach(({ title }, axis) => lines.push(`${title}: ${readable(run.y[axis][k])}`));
      reading.replaceChildren(...lines.map((line, row) => {
        const div = document.createElement(row ? "div" : "strong");
        div.textContent = line;
        return div;
      }));
      reading.hidden = false;
      const box = this.svg.getBoundingClientRect();
      const scale = box.width / this.width;
      const [x, y] = [box.left + at[0] * scale, box.top + at[1] * scale];
      const left = x + 14 + reading.offsetWidth > innerWidth ? x - 14 - reading.offsetWidth : x + 14;
      reading.style.left = `${Math.max(4, left) + scrollX}px`;
      reading.style.top = `${Math.max(4, Math.min(y + 10, innerHeight - reading.offsetHeight - 4)) + scrollY}px`;
      this.dot.setAttribute("cx", at[0]);
      this.dot.setAttribute("cy", at[1]);
      this.dot.style.stroke = style(run.name).color;
      this.dot.setAttribute("visibility", "visible");
    }

    quiet() {
      find("reading").hidden = true;
      this.dot.setAttribute("visibility", "hidden");
    }

    leave() {
      if (!this.pressed) this.quiet();
    }

    press(event) {
      // A finger scrolls the page; it reads by touching.
      if (event.pointerType === "touch") return this.move(event);
      if (event.button !== 0) return;
      this.pressed = this.spot(event);
      this.svg.setPointerCapture(event.pointerId);
    }

    release(event) {
      if (!this.pressed) return;
      const [[x0, y0], [x1, y1]] = [this.pressed, this.spot(event)];
      this.pressed = null;
      this.area.setAttribute("visibility", "hidden");
      const within = (value, axis) => Math.max(Math.min(axis.from, axis.to), Math.min(Math.max(axis.from, axis.to), value));
      if (Math.abs(x1 - x0) < 8 && Math.abs(y1 - y0) < 8) return;
      const xs = [x0, x1].map((x) => this.value(within(x, this.x), this.x)).sort((a, b) => a - b);
      const ys = [y0, y1].map((y) => this.value(within(y, this.y), this.y)).sort((a, b) => a - b);
      // A drag along one axis zooms along that one.
      this.zoom = {
        x: Math.abs(x1 - x0) < 8 ? [this.x.lo, this.x.hi] : xs,
        y: Math.abs(y1 - y0) < 8 ? [this.y.lo, this.y.hi] : ys,
      };
      this.draw();
    }
  }

  function buttons(parent, label, options, chosen, choose) {
    const group = document.createElement("span");
    const word = document.createElement("label");
    word.textContent = label;
    group.append(word);
    const made = options.map((title, k) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = title;
      button.addEventListener("click", () => {
        choose(k);
        refresh(true);
      });
      group.append(button);
      return button;
    });
    parent.append(group);
    return () => made.forEach((button, k) => button.setAttribute("aria-pressed", String(chosen() === k)));
  }

  const controls = find("controls");
  const updates = [];
  if (data.y.length > 1) {
    updates.push(buttons(controls, "show", data.y.map((y) => y.title), () => state.y, (k) => {
      state.y = k;
      state.logY = data.y[k].log;
    }));
  }
  updates.push(buttons(controls, "against", data.x, () => state.x, (k) => (state.x = k)));
  updates.push(buttons(controls, "vertical", ["log", "linear"], () => (state.logY ? 0 : 1), (k) => (state.logY = k === 0)));
  updates.push(buttons(controls, "horizontal", ["log", "linear"], () => (state.logX ? 0 : 1), (k) => (state.logX = k === 0)));

  const legend = find("legend");
  data.names.forEach((name, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.dataset.name = name;
    const svg = element("svg", { width: 28, height: 12, "aria-hidden": "true" }, button);
    const { color, dash, marker } = style(k);
    element("line", { x1: 0, x2: 28, y1: 6, y2: 6, style: `stroke:${color};stroke-width:2`, "stroke-dasharray": dash }, svg);
    mark(svg, 14, 6, marker, color, 3.2, true);
    button.append(name);
    button.title = `Shows or hides ${name}; double click: ${name} alone, or all`;
    button.addEventListener("click", () => {
      if (!state.hidden.delete(k)) state.hidden.add(k);
      refresh(false);
    });
    button.addEventListener("dblclick", () => {
      const others = data.names.map((_, other) => other).filter((other) => other !== k);
      const alone = others.every((other) => state.hidden.has(other));
      state.hidden = new Set(alone ? [] : others);
      refresh(false);
    });
    legend.append(button);
    updates.push(() => button.setAttribute("aria-pressed", String(!state.hidden.has(k))));
  });

  // Ends of curves that lie far apart are seen on an axis of ratios.
  const ends = data.panels[0].runs.map((run) => run.x[0][run.x[0].length - 1]).filter((x) => x > 0);
  state.logX = Math.max(...ends) > 8 * Math.min(...ends);

  const panels = find("panels");
  const many = data.panels.length > 1;
  panels.classList.toggle("many", many);
  for (const panel of data.panels) views.push(new View(panel, panels, many));

  function refresh(reset) {
    find("reading").hidden = true;
    updates.forEach((update) => update());
    for (const view of views) {
      if (reset) view.zoom = null;
      view.draw();
    }
  }
  refresh(true);
  let width = panels.clientWidth;
  new ResizeObserver(() => {
    if (panels.clientWidth !== width) {
      width = panels.clientWidth;
      refresh(false);
    }
  }).observe(panels);
})();
