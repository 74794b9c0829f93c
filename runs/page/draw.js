// Drawing with WebGL 2. Positions and values are textures, one texel for each node or cell, of which the corners of
// triangles are numbers: a new frame is two textures, whatever is drawn of it.

const ROW = 2048; // texels in a row of a texture
const COMMON = `#version 300 es
precision highp float; precision highp int; precision highp sampler2D;
uniform sampler2D points, moved, values; uniform float factor; uniform bool atNodes; uniform mat4 camera;
vec4 texel(sampler2D from, uint i) { return texelFetch(from, ivec2(int(i % ${ROW}u), int(i / ${ROW}u)), 0); }
vec3 place(uint node) { return texel(points, node).xyz + factor * texel(moved, node).xyz; }
float valueOf(uint node, uint cell) { return texel(values, atNodes ? node : cell).x; }
`;
const PAINT = `#version 300 es
precision highp float;
uniform sampler2D scale; uniform vec2 limits; uniform vec4 plane; uniform vec3 eye; uniform vec4 plain; uniform float light; uniform bool coloured;
in vec3 x; in float value; out vec4 colour;
void main() {
  if (dot(plane.xyz, x) > plane.w) discard;
  vec4 c = plain;
  if (coloured && value > ${(0.5 * -1e30).toExponential()}) c = vec4(texture(scale, vec2((value - limits.x) / (limits.y - limits.x) * 0.996 + 0.002, 0.5)).rgb, plain.a);
  vec3 across = cross(dFdx(x), dFdy(x));
  float along = length(across) > 0.0 ? abs(dot(normalize(across), normalize(eye))) : 1.0;
  colour = vec4(c.rgb * mix(1.0, 0.58 + 0.45 * along, light), c.a);
}`;
const SHADERS = {
  // Corners of triangles: node and cell.
  surface: [COMMON + `
uniform float nearer; in uvec2 corner; out vec3 x; out float value;
void main() { x = place(corner.x); value = valueOf(corner.x, corner.y); gl_Position = camera * vec4(x, 1.0) - vec4(0.0, 0.0, nearer, 0.0); }`, PAINT],
  // Corners of triangles that are no nodes: of sections and obstacles.
  loose: [COMMON + `
uniform float nearer; in vec4 corner; out vec3 x; out float value;
void main() { x = corner.xyz; value = corner.w; gl_Position = camera * vec4(x, 1.0) - vec4(0.0, 0.0, nearer, 0.0); }`, PAINT],
  // Lines of some width, a rectangle for each, by its ends as node and cell.
  lines: [COMMON + `
uniform vec2 window; uniform float width, nearer;
in uvec4 ends; out vec3 x; out float value;
void main() {
  vec3 p = place(ends.x), q = place(ends.z);
  int k = gl_VertexID; bool last = k == 1 || k == 2 || k == 4; float side = k == 0 || k == 1 || k == 3 ? 1.0 : -1.0;
  vec4 a = camera * vec4(p, 1.0), b = camera * vec4(q, 1.0);
  vec2 d = (b.xy - a.xy) * window; d = length(d) > 0.0 ? normalize(d) : vec2(1.0, 0.0);
  x = last ? q : p; value = last ? valueOf(ends.z, ends.w) : valueOf(ends.x, ends.y);
  gl_Position = (last ? b : a) + vec4(side * width * vec2(-d.y, d.x) / window, -nearer, 0.0);
}`, PAINT],
  balls: [COMMON + `
uniform float width; in uvec2 corner; out vec3 x; out float value;
void main() { x = place(corner.x); value = valueOf(corner.x, corner.y); gl_PointSize = width; gl_Position = camera * vec4(x, 1.0); }`,
  PAINT.replace("void main() {", "void main() { vec2 r = 2.0 * gl_PointCoord - 1.0; if (dot(r, r) > 1.0) discard;")],
};

class Drawing {
  constructor(canvas, colours, bodies) {
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("this browser has no WebGL 2, so the bodies cannot be shown; the histories can.");
    this.gl = gl;
    this.canvas = canvas;
    this.programs = Object.fromEntries(Object.entries(SHADERS).map(([name, parts]) => [name, this.program(...parts)]));
    this.textures = {};
    this.buffers = {};
    const ramp = (one, filter) => this.texture(gl.RGBA8, gl.RGBA, gl.UNSIGNED_BYTE, 256, 1, new Uint8Array(one.flatMap((rgb) => [...rgb, 255])), filter);
    this.scale = ramp(colours, gl.LINEAR);
    this.ofBodies = ramp(Array.from({ length: 256 }, (_, k) => bodies[Math.floor((k * bodies.length) / 256)]), gl.NEAREST);
    gl.enable(gl.DEPTH_TEST);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE);
  }

  program(vertex, fragment) {
    const gl = this.gl, program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }

  texture(internal, format, type, width, height, values, filter) {
    const gl = this.gl, texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]])
      gl.texParameteri(gl.TEXTURE_2D, key, value);
    gl.texImage2D(gl.TEXTURE_2D, 0, internal, width, height, 0, format, type, values);
    return texture;
  }

  // Rows of numbers, of four or one each, as the texture of a name.
  table(name, values, width) {
    const gl = this.gl, n = Math.max(values.length / width, 1), rows = Math.ceil(n / ROW);
    const [internal, format] = width === 4 ? [gl.RGBA32F, gl.RGBA] : [gl.R32F, gl.RED];
    const known = this.textures[name];
    if (!known || known.rows !== rows || known.width !== width) {
      if (known) gl.deleteTexture(known.texture);
      this.textures[name] = { rows, width, texture: this.texture(internal, format, gl.FLOAT, ROW, rows, null, gl.NEAREST) };
    }
    gl.bindTexture(gl.TEXTURE_2D, this.textures[name].texture);
    const full = Math.floor(n / ROW), rest = n - full * ROW;
    if (full) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, ROW, full, format, gl.FLOAT, values.subarray(0, full * ROW * width));
    if (rest && values.length) gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, full, rest, 1, format, gl.FLOAT, values.subarray(full * ROW * width));
  }

  // Something that is drawn: numbers, of so many for each corner or line.
  buffer(name, values, width) {
    const gl = this.gl;
    this.buffers[name] ??= { buffer: gl.createBuffer() };
    const one = this.buffers[name];
    one.n = values.length / width;
    gl.bindBuffer(gl.ARRAY_BUFFER, one.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  begin(look) {
    const gl = this.gl, dense = window.devicePixelRatio || 1;
    const [w, h] = [Math.max(1, Math.round(this.canvas.clientWidth * dense)), Math.max(1, Math.round(this.canvas.clientHeight * dense))];
    if (this.canvas.width !== w || this.canvas.height !== h) [this.canvas.width, this.canvas.height] = [w, h];
    gl.viewport(0, 0, w, h);
    gl.clearColor(1, 1, 1, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.look = look;
  }

  draw(kind, name, { colour, light = 1, width = 1, nearer = 0, cut = true, first = 0, count = null, through = false, coloured = true, thin = false }) {
    const gl = this.gl, one = this.buffers[name], n = count ?? (one ? one.n - first : 0);
    if (!one || n <= 0) return;
    const program = this.programs[kind], look = this.look, at = (key) => gl.getUniformLocation(program, key);
    gl.useProgram(program);
    ["points", "moved", "values"].forEach((key, k) => {
      gl.activeTexture(gl.TEXTURE0 + k);
      gl.bindTexture(gl.TEXTURE_2D, this.textures[key].texture);
      gl.uniform1i(at(key), k);
    });
    gl.activeTexture(gl.TEXTURE3);
    gl.bindTexture(gl.TEXTURE_2D, look.ofBodies ? this.ofBodies : this.scale);
    gl.uniform1i(at("scale"), 3);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniformMatrix4fv(at("camera"), false, look.camera);
    gl.uniform1f(at("factor"), look.factor);
    gl.uniform1i(at("atNodes"), look.atNodes ? 1 : 0);
    gl.uniform2fv(at("limits"), look.limits);
    gl.uniform4fv(at("plane"), cut && look.plane ? look.plane : [0, 0, 0, 1]);
    gl.uniform3fv(at("eye"), look.eye);
    gl.uniform4fv(at("plain"), colour);
    gl.uniform1f(at("light"), light);
    gl.uniform1i(at("coloured"), coloured ? 1 : 0);
    gl.uniform2f(at("window"), this.canvas.width, this.canvas.height);
    gl.uniform1f(at("width"), width * (window.devicePixelRatio || 1));
    gl.uniform1f(at("nearer"), nearer);
    gl.bindBuffer(gl.ARRAY_BUFFER, one.buffer);
    const used = [];
    const read = (key, size, stride, offset, whole, each) => {
      const place = gl.getAttribLocation(program, key);
      if (place < 0) return;
      used.push(place);
      gl.enableVertexAttribArray(place);
      if (whole) gl.vertexAttribIPointer(place, size, gl.UNSIGNED_INT, stride, offset);
      else gl.vertexAttribPointer(place, size, gl.FLOAT, false, stride, offset);
      gl.vertexAttribDivisor(place, each);
    };
    if (through) { gl.enable(gl.BLEND); gl.depthMask(false); }
    if (kind === "surface" || kind === "balls") {
      read("corner", 2, 8, 0, true, 0);
      gl.drawArrays(kind === "balls" ? gl.POINTS : thin ? gl.LINES : gl.TRIANGLES, first, n);
    } else if (kind === "loose") {
      read("corner", 4, 16, 0, false, 0);
      gl.drawArrays(thin ? gl.LINES : gl.TRIANGLES, first, n);
    } else {
      read("ends", 4, 16, 0, true, 1);
      gl.drawArraysInstanced(gl.TRIANGLES, 0, 6, n);
    }
    for (const place of used) { gl.vertexAttribDivisor(place, 0); gl.disableVertexAttribArray(place); }
    if (through) { gl.disable(gl.BLEND); gl.depthMask(true); }
  }
}

// -- from where it is seen: a box without perspective ----------------------------------------------------------------

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const l = Math.hypot(...a) || 1; return a.map((x) => x / l); };

class Camera {
  constructor(start) { this.start = start; this.reset(); }

  reset() {
    Object.assign(this, { eye: unit(this.start.eye), up: unit(this.start.up), centre: [...this.start.centre], zoom: 1 });
  }

  look(word) {
    if (word === "start") { this.reset(); return; }
    const k = "xyz".indexOf(word.at(-1)), sign = word[0] === "-" ? -1 : 1;
    const eye = [0, 0, 0], top = unit(this.start.up);
    eye[k] = sign;
    this.eye = eye;
    this.up = Math.abs(dot(eye, top)) < 0.9 ? top : [0, k === 1 ? 0 : 1, k === 1 ? 1 : 0];
  }

  // Turns by angles about the upward direction and about the one to the right.
  turn(about, over) {
    const rotate = (v, k, a) => {
      const c = Math.cos(a), s = Math.sin(a), kv = cross(k, v), kk = dot(k, v) * (1 - c);
      return v.map((x, i) => x * c + kv[i] * s + k[i] * kk);
    };
    this.eye = unit(rotate(this.eye, this.up, about));
    const right = unit(cross(this.up, this.eye));
    this.eye = unit(rotate(this.eye, right, over));
    this.up = unit(rotate(this.up, right, over));
  }

  move(dx, dy, height) { // in pixels, of a window so high
    const [right, up] = this.axes(), pixel = (2 * this.half(1)) / height;
    this.centre = this.centre.map((c, i) => c - pixel * (dx * right[i] - dy * up[i]));
  }

  axes() {
    const right = unit(cross(this.up, this.eye));
    return [right, cross(this.eye, right)];
  }

  // Half of what is seen from top to bottom, in m, in a window of width over height.
  half(aspect) {
    return Math.max(this.start.half_height, this.start.half_width / aspect) / this.zoom;
  }

  matrix(width, height) {
    const [right, up] = this.axes(), h = this.half(width / height), w = (h * width) / height, deep = 4 * this.start.size;
    this.shownHalf = h;
    const rows = [right.map((x) => x / w), up.map((x) => x / h), this.eye.map((x) => -x / deep)];
    const m = new Float32Array(16);
    for (let r = 0; r < 3; r++) {
      for (let c = 0; c < 3; c++) m[4 * c + r] = rows[r][c];
      m[12 + r] = -dot(rows[r], this.centre);
    }
    m[15] = 1;
    return m;
  }
}
