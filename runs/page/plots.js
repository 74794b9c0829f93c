// Histories, drawn beside the bodies; a line is where the time is.

const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';

class Plots {
  constructor(place, panels, timeUnit, onTime) {
    this.time = 0;
    this.onTime = onTime;
    this.timeUnit = timeUnit;
    this.panels = panels.map((panel) => {
      const canvas = document.createElement("canvas");
      canvas.dataset.title = panel.title;
      place.append(canvas);
      const one = { ...panel, canvas };
      const to = (event) => {
        const box = canvas.getBoundingClientRect();
        if (one.frame) this.onTime(one.frame.toTime(event.clientX - box.left));
      };
      canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); to(event); });
      canvas.addEventListener("pointermove", (event) => { if (event.buttons) to(event); });
      return one;
    });
  }

  show(t) {
    this.time = t;
    for (const panel of this.panels) if (panel.canvas.clientWidth) this.draw(panel);
  }

  draw(panel) {
    const canvas = panel.canvas, dense = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    // What does not change with time is kept as a picture.
    if (!panel.picture || panel.picture.width !== Math.round(w * dense)) this.paint(panel, w, h, dense);
    [canvas.width, canvas.height] = [panel.picture.width, panel.picture.height];
    const ctx = canvas.getContext("2d");
    ctx.drawImage(panel.picture, 0, 0);
    ctx.scale(dense, dense);
    const { left, right, top, bottom, toX, toY } = panel.frame, x = toX(this.time);
    if (x < left - 1 || x > right + 1) return;
    ctx.strokeStyle = "#555";
    ctx.beginPath();
    ctx.moveTo(x, top);
    ctx.lineTo(x, bottom);
    ctx.stroke();
    ctx.font = FONT;
    let at = left + 6;
    for (const curve of panel.curves) {
      const i = nearest(panel.t[curve.rows], this.time), value = curve.y[i];
      ctx.fillStyle = curve.colour;
      ctx.beginPath();
      ctx.arc(x, toY(value), 3, 0, 7);
      ctx.fill();
      const shown = Math.abs(value) < panel.frame.least ? 0 : value; // rounding
      const words = curve.name === panel.title ? short(shown) : `${curve.name} ${short(shown)}`;
      const width = ctx.measureText(words).width;
      if (at + width > right - 70) continue; // where the unit of time is
      ctx.fillText(words, at, bottom + 33);
      at += width + 12;
    }
  }

  paint(panel, w, h, dense) {
    const picture = document.createElement("canvas");
    [picture.width, picture.height] = [Math.round(w * dense), Math.round(h * dense)];
    panel.picture = picture;
    const ctx = picture.getContext("2d");
    ctx.scale(dense, dense);
    ctx.font = FONT;
    ctx.fillStyle = "#fff";
    ctx.fillRect(0, 0, w, h);
    const left = 62, right = w - 12, top = 26, bottom = h - 40;
    let low = Infinity, high = -Infinity, first = Infinity, last = -Infinity;
    for (const curve of panel.curves) {
      for (const y of curve.y) { if (y < low) low = y; if (y > high) high = y; }
      const t = panel.t[curve.rows];
      first = Math.min(first, t[0]);
      last = Math.max(last, t[t.length - 1]);
    }
    const log = panel.log && low > 0, over = log ? Math.log10 : (y) => y;
    [low, high] = [over(low), over(high)];
    const margin = high > low ? 0.05 * (high - low) : Math.max(Math.abs(high) * 0.1, log ? 1 : 1e-30);
    [low, high] = [low - margin, high + margin];
    if (!(last > first)) last = first + 1;
    const toX = (t) => left + ((t - first) / (last - first)) * (right - left);
    const toY = (y) => bottom - ((over(y) - low) / (high - low)) * (bottom - top);
    const toTime = (x) => Math.min(last, Math.max(first, first + ((x - left) / (right - left)) * (last - first)));
    const least = log ? 0 : 1e-9 * Math.max(Math.abs(low), Math.abs(high));
    panel.frame = { left, right, top, bottom, toX, toY, toTime, least };
    ctx.fillStyle = "#1c2833";
    ctx.textBaseline = "middle";
    ctx.fillText(panel.title + (panel.unit ? ` (${panel.unit})` : ""), left, 12);
    ctx.strokeStyle = "#e3e7ec";
    ctx.fillStyle = "#66717f";
    ctx.textAlign = "right";
    for (const y of log ? powers(low, high) : ticks(low, high, 5)) {
      const at = bottom - ((y - low) / (high - low)) * (bottom - top);
      line(ctx, left, at, right, at);
      ctx.fillText(log ? `1e${y}` : short(y), left - 6, at);
    }
    ctx.textAlign = "center";
    const { factor, unit } = this.timeUnit;
    for (const t of ticks(first * factor, last * factor, 6)) {
      line(ctx, toX(t / factor), top, toX(t / factor), bottom);
      ctx.fillText(short(t), toX(t / factor), bottom + 11);
    }
    ctx.textAlign = "right";
    ctx.fillText(`time (${unit})`, right, bottom + 29);
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, right - left, bottom - top);
    ctx.clip();
    panel.curves.forEach((curve, k) => {
      const t = panel.t[curve.rows];
      ctx.strokeStyle = curve.colour;
      ctx.lineWidth = Math.max(1.1, 2.2 - 0.4 * k);
      ctx.beginPath();
      for (let i = 0; i < t.length; i++) ctx[i ? "lineTo" : "moveTo"](toX(t[i]), toY(curve.y[i]));
      ctx.stroke();
    });
    ctx.restore();
    ctx.strokeStyle = "#8a94a3";
    ctx.lineWidth = 1;
    ctx.strokeRect(left, top, right - left, bottom - top);
  }
}

function line(ctx, x0, y0, x1, y1) {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

// Round numbers between two.
function ticks(low, high, wanted) {
  const rough = (high - low) / wanted, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= rough * 0.999);
  const out = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) out.push(k * step);
  return out;
}

function powers(low, high) {
  const every = Math.max(1, Math.ceil((high - low) / 6)), out = [];
  for (let k = Math.ceil(low / every) * every; k <= high; k += every) out.push(k);
  return out;
}

const short = (x) => (x === 0 ? "0" : Math.abs(x) < 1e-3 || Math.abs(x) >= 1e5 ? x.toExponential(2).replace("e+", "e") : String(Number(x.toPrecision(4))));

// The place of the number in an ascending list that is nearest to one.
function nearest(list, t) {
  let low = 0, high = list.length - 1;
  while (high - low > 1) {
    const mid = (low + high) >> 1;
    if (list[mid] <= t) low = mid; else high = mid;
  }
  return high > 0 && Math.abs(list[high] - t) < Math.abs(list[low] - t) ? high : low;
}
