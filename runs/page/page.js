// The page: what is chosen, and what follows from it.

const byId = (id) => document.getElementById(id);
const state = { frame: 0, field: 0, component: 0, limits: [0, 1], playing: false, started: 0, ready: false, drawn: 0 };
let header, motion, drawing, camera, plots, box;

async function open() {
  header = JSON.parse(byId("header").textContent);
  byId("note").textContent = header.note;
  const bytes = bytesOf(byId("data").textContent.trim());
  byId("data").remove();
  const texts = setUpTabs();
  const panels = await unpackAll(bytes, header.panels);
  plots = new Plots(byId("plots"), panels, header.time_unit, (t) => { stop(); showTime(t); });
  if (!header.model) { byId("trouble").textContent = header.no_model; byId("trouble").hidden = false; byId("scene").hidden = !header.no_model; byId("plots").hidden = false; plots.show(0); state.ready = true; return; }
  const { displacement, ...model } = header.model;
  const arrays = await unpackAll(bytes, model);
  arrays.displacement_numbers = await unpack(bytes, displacement);
  motion = new Motion({ displacement }, arrays);
  try {
    drawing = new Drawing(byId("view"), motion.scale_colours, motion.bodies.map((one) => rgba(one.colour).slice(0, 3).map((x) => 255 * x)));
  } catch (error) {
    byId("trouble").textContent = error.message;
    byId("trouble").hidden = false;
  }
  camera = new Camera(header.camera);
  state.factor = header.factor;
  byId("factor").value = header.factor;
  if (header.cut.across) [byId("cut").value, byId("across").value] = ["plane", header.cut.across];
  box = motion.box(state.factor);
  if (header.cut.place !== null && header.cut.across) {
    const k = "xyz".indexOf(header.cut.across);
    byId("place").value = (1000 * (header.cut.place - box[0][k])) / (box[1][k] - box[0][k]);
  }
  if (drawing) setUpDrawing();
  setUpControls();
  chooseField(Math.max(0, motion.fields.findIndex((one) => one.name === header.field)));
  showFrame(0);
  state.ready = true;
  new ResizeObserver(() => { draw(); plots.show(state.t); }).observe(byId("scene"));
}

// -- tabs: histories, and what is said of the run ----------------------------------------------------------------------

function setUpTabs() {
  const parts = [["histories", null], ...header.texts.map((text) => [text.title, text])];
  parts.forEach(([title, text], k) => {
    const button = document.createElement("button");
    button.textContent = title;
    byId("tabs").append(button);
    button.onclick = () => {
      for (const other of byId("tabs").children) other.classList.toggle("on", other === button);
      byId("plots").hidden = k !== 0;
      byId("texts").hidden = k === 0;
      byId("texts").replaceChildren(...(text ? [textOf(text)] : []));
      if (k === 0 && plots) plots.show(state.t ?? 0);
    };
    if (k === 0) button.click();
  });
}

function textOf(text) {
  const all = document.createElement("div");
  if (text.picture) {
    const picture = document.createElement("img");
    picture.src = text.picture;
    picture.alt = text.title;
    all.append(picture);
  }
  const words = document.createElement("pre");
  words.textContent = text.words;
  all.append(words);
  return all;
}

// -- bodies ------------------------------------------------------------------------------------------------------------

function corners(rows, width, from = 0, to = rows.length / width) {
  const out = new Uint32Array((to - from) * (width - 1) * 2);
  let k = 0;
  for (let i = from; i < to; i++)
    for (let c = 1; c < width; c++) { out[k++] = rows[i * width + c]; out[k++] = rows[i * width]; }
  return out;
}

function setUpDrawing() {
  const n = motion.nNodes, points = new Float32Array(4 * n);
  for (let i = 0; i < n; i++) for (let c = 0; c < 3; c++) points[4 * i + c] = motion.points[3 * i + c];
  drawing.table("points", points, 4);
  drawing.buffer("volumes", corners(motion.triangles, 4, 0, motion.volume_triangles), 2);
  drawing.buffer("shells", corners(motion.triangles, 4, motion.volume_triangles), 2);
  drawing.buffer("edges", corners(motion.edges, 3), 2);
  drawing.buffer("bars", corners(motion.lines, 3), 4);
  drawing.buffer("balls", corners(motion.vertices, 2), 2);
  const still = new Numbers(Float32Array);
  for (const one of motion.obstacles)
    for (const node of one.triangles) still.push(one.points[3 * node], one.points[3 * node + 1], one.points[3 * node + 2], MISSING);
  drawing.buffer("obstacles", still.used, 4);
}

const rgba = (hex, alpha = 1) => [...[1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255), alpha];
const PLAIN = rgba("#c9ced6"), EDGE = rgba("#1c2833");

// The plane of the cut: its normal, which points to what is left out, and its place along it.
function cut() {
  if (!byId("cut").value) return null;
  const k = "xyz".indexOf(byId("across").value), sign = byId("flip").checked ? -1 : 1;
  const part = byId("place").value / 1000, place = box[0][k] + part * (box[1][k] - box[0][k]);
  const normal = [0, 0, 0];
  normal[k] = sign;
  return { kind: byId("cut").value, normal, place: sign * place, shown: place };
}

function draw() {
  if (!drawing) return;
  const field = motion.fields[state.field], width = byId("view").clientWidth, height = byId("view").clientHeight;
  if (!width || !height) return;
  const atNodes = field?.kind === "point";
  const values = valuesShown();
  drawing.table("moved", motion.displacement, 4);
  drawing.table("values", values, 1);
  const plane = cut(), wires = byId("wires").checked, faces = byId("faces").checked;
  const matrix = camera.matrix(width, height);
  const look = { camera: matrix, factor: state.factor, atNodes, limits: state.limits, ofBodies: !field, eye: camera.eye, plane: plane ? [...plane.normal, plane.place] : null };
  let volumes = "volumes", edges = "edges";
  if (plane && motion.tetrahedra.length) {
    const x = motion.positions(state.factor);
    if (plane.kind === "plane") {
      const found = section(motion, x, plane.normal, plane.place, values, atNodes);
      drawing.buffer("section", found.corners, 4);
      drawing.buffer("section lines", found.lines, 4);
      state.sectionTriangles = found.corners.length / 12;
    } else {
      const kept = keptCells(motion, x, plane.normal, plane.place);
      drawing.buffer("kept", kept.triangles, 2);
      drawing.buffer("kept edges", kept.edges, 2);
      state.keptTriangles = kept.triangles.length / 6;
      [volumes, edges] = ["kept", "kept edges"];
    }
  }
  const near = 2e-4, whole = volumes === "kept";
  drawing.begin(look);
  if (faces) {
    drawing.draw("surface", volumes, { colour: PLAIN, cut: !whole });
    drawing.draw("surface", "shells", { colour: PLAIN });
    if (plane?.kind === "plane") drawing.draw("loose", "section", { colour: PLAIN, light: 0, cut: false });
  }
  if (wires && (!faces || edgesAreLong())) {
    drawing.draw("surface", edges, { colour: EDGE, coloured: false, thin: true, nearer: near, cut: !whole, light: 0 });
    if (plane?.kind === "plane" && faces) drawing.draw("loose", "section lines", { colour: EDGE, coloured: false, thin: true, nearer: near, cut: false, light: 0 });
  }
  drawing.draw("lines", "bars", { colour: PLAIN, width: 3, light: 0 });
  drawing.draw("balls", "balls", { colour: PLAIN, width: 12, light: 0 });
  if (byId("obstacles").checked) drawing.draw("loose", "obstacles", { colour: rgba(motion.obstacle_colour, 0.35), light: 0, through: true });
  state.drawn++;
}

function valuesShown() {
  const field = motion.fields[state.field];
  if (field) return motion.values(field, state.component);
  const out = new Float32Array(motion.nCells); // a number for each body
  for (let i = 0; i < out.length; i++) out[i] = motion.cell_block[i] + 0.5;
  return out;
}

// Whether edges are longer than a few pixels: shorter ones only blacken the picture.
function edgesAreLong() {
  const x = motion.points, n = motion.edges.length / 3, every = Math.max(1, Math.floor(n / 200));
  let sum = 0, counted = 0;
  for (let i = 0; i < n; i += every, counted++) {
    const a = 3 * motion.edges[3 * i + 1], b = 3 * motion.edges[3 * i + 2];
    sum += Math.hypot(x[a] - x[b], x[a + 1] - x[b + 1], x[a + 2] - x[b + 2]);
  }
  const view = byId("view"), pixel = (2 * camera.half(view.clientWidth / view.clientHeight)) / view.clientHeight;
  return sum / Math.max(counted, 1) >= 5 * pixel;
}

// -- fields and their scale ----------------------------------------------------------------------------------------------

function chooseField(k) {
  state.field = k;
  byId("field").value = k;
  const field = motion.fields[k], n = field ? field.limits.length : 1;
  const names = n === 4 ? ["size", "x", "y", "z"] : ["size", ...Array.from({ length: n - 1 }, (_, c) => String(c + 1))];
  byId("component").replaceChildren(...names.map((name, c) => new Option(name, c)));
  byId("component-label").style.visibility = n === 1 ? "hidden" : "visible"; // it keeps its room
  chooseComponent(0);
}

function chooseComponent(c) {
  state.component = c;
  byId("component").value = c;
  const field = motion.fields[state.field];
  setLimits(field ? field.limits[c] : [0, motion.bodies.length]);
}

function setLimits(limits) {
  state.limits = limits[1] > limits[0] ? [...limits] : [limits[0], limits[0] + (Math.abs(limits[0]) || 1)];
  const field = motion.fields[state.field], [factor, unit] = scaleOf(Math.max(...state.limits.map(Math.abs)), field?.unit ?? "");
  state.unitFactor = factor;
  byId("low").value = short(state.limits[0] * factor);
  byId("high").value = short(state.limits[1] * factor);
  byId("unit").textContent = unit;
  showKey(field, unit);
  draw();
}

function scaleOf(largest, unit) {
  if (!(largest > 0) || !unit || unit.startsWith("kg")) return [1, unit];
  const prefixes = "fpnµm kMGTP", power = Math.min(15, Math.max(-15, 3 * Math.floor((Math.log10(largest) + 1e-9) / 3)));
  return [10 ** -power, power ? prefixes[power / 3 + 5] + unit : unit];
}

function showKey(field, unit) {
  const key = byId("key");
  key.replaceChildren();
  const add = (name, parent = key) => { const one = document.createElement("div"); one.className = name; parent.append(one); return one; };
  if (!field) {
    const names = add("names");
    for (const body of motion.bodies) {
      const row = add("", names), dot_ = document.createElement("i");
      dot_.style.background = body.colour;
      row.append(dot_, body.name);
    }
    return;
  }
  const bar = add("bar"), marks = add("marks"), words = add("words"), [low, high] = state.limits.map((x) => x * state.unitFactor);
  const colours = motion.scale_colours;
  bar.style.background = `linear-gradient(to top, ${[0, 32, 64, 96, 128, 160, 192, 224, 255].map((k) => `rgb(${colours[k]})`).join(",")})`;
  for (const y of ticks(low, high, 6)) {
    const mark = document.createElement("span");
    mark.style.bottom = `${(100 * (y - low)) / (high - low)}%`;
    mark.textContent = short(y);
    marks.append(mark);
  }
  const component = state.component > 0 ? ` ${byId("component").selectedOptions[0].text}` : "";
  words.textContent = (component ? field.name.replaceAll("_", " ") + component : field.words) + (unit ? ` (${unit})` : "");
}

// -- time ----------------------------------------------------------------------------------------------------------------

function showFrame(k, t = motion.times[k]) {
  state.frame = k;
  state.t = t;
  motion.show(k);
  byId("time").value = k;
  const { factor, unit, digits } = header.time_unit;
  byId("clock").textContent = `t = ${(motion.times[k] * factor).toFixed(digits)} ${unit}`;
  draw();
  plots.show(t);
}

const showTime = (t) => (motion ? showFrame(nearest(motion.times, t), t) : plots.show(t));

function play() {
  if (motion.times.length < 2) return;
  if (state.frame === motion.times.length - 1) showFrame(0);
  state.playing = true;
  byId("play").textContent = "pause";
  const first = motion.times[0], whole = motion.times.at(-1) - first;
  const seconds = Math.min(10, Math.max(4, motion.times.length / 24));
  let before = null, t = motion.times[state.frame];
  const step = (now) => {
    if (!state.playing) return;
    if (before !== null) {
      t += ((now - before) / 1000 / seconds) * whole * Number(byId("speed").value);
      if (t >= first + whole) t = first;
      const k = nearest(motion.times, t);
      if (k !== state.frame) showFrame(k);
    }
    before = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function stop() {
  state.playing = false;
  byId("play").textContent = "play";
}

// -- controls --------------------------------------------------------------------------------------------------------------

function setUpControls() {
  byId("time").max = motion.times.length - 1;
  byId("time").oninput = (event) => { stop(); showFrame(Number(event.target.value)); };
  byId("play").onclick = () => (state.playing ? stop() : play());
  byId("field").replaceChildren(
    ...motion.fields.map((field, k) => new Option(field.words === "speed" ? "velocity" : field.words, k)),
    ...(motion.bodies.length > 1 ? [new Option("body", motion.fields.length)] : []));
  byId("field").onchange = (event) => chooseField(Number(event.target.value));
  byId("component").onchange = (event) => chooseComponent(Number(event.target.value));
  for (const id of ["low", "high"])
    byId(id).onchange = () => {
      const limits = [byId("low").value, byId("high").value].map((text) => parseFloat(text) / state.unitFactor);
      setLimits(limits.every(Number.isFinite) ? limits : state.limits);
    };
  byId("auto").onclick = () => chooseComponent(state.component);
  byId("now").onclick = () => {
    const there = valuesShown().filter((x) => x > 0.5 * MISSING);
    if (there.length) setLimits(there.reduce(([a, b], x) => [Math.min(a, x), Math.max(b, x)], [Infinity, -Infinity]));
  };
  byId("factor").onchange = (event) => {
    const factor = parseFloat(event.target.value);
    if (Number.isFinite(factor)) state.factor = factor;
    event.target.value = state.factor;
    box = motion.box(state.factor);
    showFrame(state.frame);
  };
  const redraw = () => {
    const plane = cut();
    byId("at").textContent = plane ? `${byId("across").value} = ${short(plane.shown)} m` : "";
    draw();
  };
  for (const id of ["wires", "faces", "obstacles", "cut", "across", "place", "flip"]) byId(id).oninput = redraw;
  if (!motion.tetrahedra.length && motion.volume_triangles) byId("cut").options[2].disabled = true;
  for (const button of document.querySelectorAll("[data-eye]")) button.onclick = () => { camera.look(button.dataset.eye); draw(); };
  const view = byId("view");
  view.addEventListener("pointerdown", (event) => view.setPointerCapture(event.pointerId));
  view.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    if (event.shiftKey || event.buttons > 1) camera.move(event.movementX, event.movementY, view.clientHeight);
    else camera.turn(-0.008 * event.movementX, -0.008 * event.movementY);
    draw();
  });
  view.addEventListener("contextmenu", (event) => event.preventDefault());
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom = Math.min(1000, Math.max(0.05, camera.zoom * Math.exp(-0.0015 * event.deltaY)));
    draw();
  }, { passive: false });
  document.addEventListener("keydown", (event) => {
    if (event.target.matches("input, select, button")) return;
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === " ") { event.preventDefault(); byId("play").click(); }
    if (step) { stop(); showFrame(Math.min(motion.times.length - 1, Math.max(0, state.frame + step))); }
  });
}

open().catch((error) => {
  byId("trouble").textContent = `this page cannot be shown: ${error.message}`;
  byId("trouble").hidden = false;
  console.error(error);
});
