// Unpacking what the page carries: arrays compressed one by one, frames as differences of whole numbers.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, float32: Float32Array, float64: Float64Array };

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// The array that a description of it in the header stands for.
async function unpack(bytes, described) {
  const part = bytes.subarray(described.at, described.at + described.bytes);
  const stream = new Blob([part]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const Type = TYPES[described.type];
  const size = Type.BYTES_PER_ELEMENT, n = planes.length / size;
  const whole = new Uint8Array(planes.length);
  for (let k = 0; k < size; k++) for (let i = 0; i < n; i++) whole[i * size + k] = planes[k * n + i];
  const values = new Type(whole.buffer);
  if (described.over_time) {
    const width = n / described.shape[0];
    for (let i = width; i < n; i++) values[i] += values[i - width]; // modulo 2^16
  }
  return values;
}

// Replaces each description in an object by its array, all at the same time.
async function unpackAll(bytes, what) {
  if (Array.isArray(what)) return Promise.all(what.map((one) => unpackAll(bytes, one)));
  if (what === null || typeof what !== "object") return what;
  if ("at" in what && "type" in what) return unpack(bytes, what);
  const keys = Object.keys(what);
  const parts = await Promise.all(keys.map((key) => unpackAll(bytes, what[key])));
  return Object.fromEntries(keys.map((key, k) => [key, parts[k]]));
}

// A motion: positions and fields of each frame as numbers.
class Motion {
  constructor(described, model) {
    Object.assign(this, model);
    this.nNodes = model.points.length / 3;
    this.nCells = model.cell_block.length;
    this.displacementOf = described.displacement; // low and step
    this.current = -1;
    this.displacement = new Float32Array(4 * this.nNodes);
    this.show(0);
  }

  // Makes frame k the one whose displacement is there, in rows of four for the graphics card.
  show(k) {
    if (k === this.current) return;
    const { low, step } = this.displacementOf, n = this.nNodes, bodies = this.bodies.length;
    const numbers = this.displacement_numbers, first = 3 * n * k;
    for (let i = 0; i < n; i++) {
      const mean = 3 * (k * bodies + this.node_block[i]);
      for (let c = 0; c < 3; c++)
        this.displacement[4 * i + c] = this.means[mean + c] + low + step * numbers[first + 3 * i + c];
    }
    this.current = k;
  }

  // The values of a field in the frame that is shown: of its length (component 0) or of a component from 1.
  values(field, component) {
    const n = field.kind === "point" ? this.nNodes : this.nCells;
    const out = new Float32Array(n);
    let width, at;
    if (!field.values) { // the displacement
      width = 3;
      at = (i, c) => this.displacement[4 * i + c];
    } else {
      width = field.values.length / this.times.length / n;
      const first = this.current * n * width;
      at = (i, c) => field.low + field.step * field.values[first + i * width + c];
    }
    if (component > 0) for (let i = 0; i < n; i++) out[i] = at(i, component - 1);
    else if (width === 1) for (let i = 0; i < n; i++) out[i] = at(i, 0);
    else
      for (let i = 0; i < n; i++) {
        let square = 0;
        for (let c = 0; c < width; c++) square += at(i, c) ** 2;
        out[i] = Math.sqrt(square);
      }
    if (field.missing) for (let i = 0; i < n; i++) if (field.missing[i]) out[i] = MISSING;
    return out;
  }

  // Positions [n, 3] with deformations enlarged.
  positions(factor) {
    const out = new Float32Array(3 * this.nNodes);
    for (let i = 0; i < this.nNodes; i++)
      for (let c = 0; c < 3; c++) out[3 * i + c] = this.points[3 * i + c] + factor * this.displacement[4 * i + c];
    return out;
  }

  // The middle of all bodies over all frames, and corners of the box in which they move.
  box(factor) {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const shown = this.current, every = Math.max(1, Math.ceil(this.times.length / 20));
    for (let k = 0; k < this.times.length; k += every) {
      this.show(k);
      const x = this.positions(factor);
      for (let i = 0; i < x.length; i++) {
        const c = i % 3;
        if (x[i] < low[c]) low[c] = x[i];
        if (x[i] > high[c]) high[c] = x[i];
      }
    }
    this.show(Math.max(shown, 0));
    return [low, high];
  }
}

const MISSING = -1e30;
