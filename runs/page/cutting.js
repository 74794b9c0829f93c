// Where a plane cuts bodies: the section through tetrahedra, or the cells on one side of it.

const TET_FACES = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
// The bits of the edges of a face between its corners 0-1, 1-2, 2-0, among those of tetrahedra: 01 12 20 03 13 23.
const TET_EDGE = { "0,1": 0, "1,2": 1, "0,2": 2, "0,3": 3, "1,3": 4, "2,3": 5 };
const edgeBit = (a, b) => TET_EDGE[a < b ? `${a},${b}` : `${b},${a}`];
const FACE_EDGES = TET_FACES.map((f) => [edgeBit(f[0], f[1]), edgeBit(f[1], f[2]), edgeBit(f[2], f[0])]);

// A list of numbers that grows.
class Numbers {
  constructor(Type) { this.array = new Type(3072); this.length = 0; }
  push(...values) {
    if (this.length + values.length > this.array.length) {
      const larger = new this.array.constructor(2 * this.array.length);
      larger.set(this.array);
      this.array = larger;
    }
    for (const value of values) this.array[this.length++] = value;
  }
  get used() { return this.array.subarray(0, this.length); }
}

function distances(x, normal, place) {
  const out = new Float32Array(x.length / 3);
  for (let i = 0; i < out.length; i++)
    out[i] = normal[0] * x[3 * i] + normal[1] * x[3 * i + 1] + normal[2] * x[3 * i + 2] - place;
  return out;
}

// The section: corners of triangles as [x, y, z, value] each, and lines between cells likewise.
function section(motion, x, normal, place, values, atNodes) {
  const d = distances(x, normal, place), tets = motion.tetrahedra, bits = motion.tetrahedron_edges;
  const corners = new Numbers(Float32Array), lines = new Numbers(Float32Array);
  const points = [], above = [], below = [];
  const crossing = (a, b, value) => {
    const s = d[a] / (d[a] - d[b]);
    const p = [0, 0, 0, value];
    for (let c = 0; c < 3; c++) p[c] = x[3 * a + c] + s * (x[3 * b + c] - x[3 * a + c]);
    if (atNodes) p[3] = values[a] < 0.5 * MISSING || values[b] < 0.5 * MISSING ? MISSING : values[a] + s * (values[b] - values[a]);
    return p;
  };
  for (let t = 0; t < bits.length; t++) {
    const at = 5 * t;
    let up = 0;
    for (let k = 1; k < 5; k++) if (d[tets[at + k]] >= 0) up++;
    if (up === 0 || up === 4) continue;
    above.length = below.length = points.length = 0;
    for (let k = 0; k < 4; k++) (d[tets[at + 1 + k]] >= 0 ? above : below).push(k);
    const value = atNodes || !values ? MISSING : values[tets[at]];
    const pairs = up === 2
      ? [[above[0], below[0]], [above[0], below[1]], [above[1], below[1]], [above[1], below[0]]]
      : (up === 1 ? below.map((b) => [above[0], b]) : above.map((a) => [a, below[0]]));
    for (const [a, b] of pairs) points.push(crossing(tets[at + 1 + a], tets[at + 1 + b], value));
    for (let k = 2; k < points.length; k++) corners.push(...points[0], ...points[k - 1], ...points[k]);
    // A side of the section lies in a face; where that is one of the cell itself, all three of its edges, or of a
    // quadrilateral two, are edges of cells. The diagonals of divided cells are not drawn.
    for (let k = 0; k < points.length; k++) {
      const next = (k + 1) % points.length;
      const face = new Set([...pairs[k], ...pairs[next]]);
      const f = [...face];
      let outer = 0;
      for (let i = 0; i < f.length; i++)
        for (let j = 0; j < i; j++) outer += (bits[t] >> edgeBit(f[i], f[j])) & 1;
      if (outer >= 2) lines.push(...points[k], ...points[next]);
    }
  }
  return { corners: corners.used, lines: lines.used };
}

// For each face of each tetrahedron, the one on its other side, or -1.
function neighbours(tets, n, nNodes) {
  const out = new Int32Array(4 * n).fill(-1), head = new Int32Array(nNodes).fill(-1), next = new Int32Array(4 * n);
  const mid = new Int32Array(4 * n), high = new Int32Array(4 * n);
  for (let f = 0; f < 4 * n; f++) {
    const at = 5 * (f >> 2) + 1, face = TET_FACES[f & 3];
    const [a, b, c] = [tets[at + face[0]], tets[at + face[1]], tets[at + face[2]]].sort((p, q) => p - q);
    mid[f] = b;
    high[f] = c;
    let found = head[a], before = -1;
    while (found >= 0 && (mid[found] !== b || high[found] !== c)) [before, found] = [found, next[found]];
    if (found < 0) { next[f] = head[a]; head[a] = f; continue; }
    out[f] = found >> 2;
    out[found] = f >> 2;
    if (before < 0) head[a] = next[found]; else next[before] = next[found];
  }
  return out;
}

// The surface of the cells whose middle is on the lower side: triangles and edges as pairs of node and cell.
function keptCells(motion, x, normal, place) {
  const n = motion.tetrahedron_edges.length, tets = motion.tetrahedra, d = distances(x, normal, place);
  motion.neighbours ??= neighbours(tets, n, motion.nNodes);
  const sums = new Float32Array(motion.nCells);
  for (let t = 0; t < n; t++) for (let k = 1; k < 5; k++) sums[tets[5 * t]] += d[tets[5 * t + k]];
  const triangles = new Numbers(Uint32Array), edges = new Numbers(Uint32Array);
  for (let f = 0; f < 4 * n; f++) {
    const t = f >> 2, cell = tets[5 * t], other = motion.neighbours[f];
    if (sums[cell] > 0 || (other >= 0 && sums[tets[5 * other]] <= 0)) continue;
    const nodes = TET_FACES[f & 3].map((k) => tets[5 * t + 1 + k]);
    triangles.push(nodes[0], cell, nodes[1], cell, nodes[2], cell);
    for (let k = 0; k < 3; k++)
      if ((motion.tetrahedron_edges[t] >> FACE_EDGES[f & 3][k]) & 1) edges.push(nodes[k], cell, nodes[(k + 1) % 3], cell);
  }
  return { triangles: triangles.used, edges: edges.used };
}
