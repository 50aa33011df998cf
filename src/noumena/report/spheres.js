// Balls that turn with the mouse, over the still picture that stands without this script.
for (const figure of document.querySelectorAll("figure.spheres")) {
  const data = JSON.parse(figure.querySelector("script").textContent);
  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const balls = data.points.map((text) => new Int8Array(bytes(text).buffer));
  const colours = bytes(data.colours);
  let [turn, tilt] = data.view;
  const still = figure.querySelector("svg");
  const row = document.createElement("div");
  row.className = "balls";
  row.setAttribute("role", "img");
  row.setAttribute("aria-label", still.querySelector("title").textContent);
  const canvases = balls.map((_, i) => {
    const cell = row.appendChild(document.createElement("div"));
    cell.append(data.titles[i]);
    const canvas = cell.appendChild(document.createElement("canvas"));
    canvas.width = canvas.height = 440;
    return canvas;
  });
  still.replaceWith(row);
  const paint = () => canvases.forEach((canvas, b) => {
    const pen = canvas.getContext("2d"), half = canvas.width / 2, points = balls[b], seen = [];
    for (let i = 0; i < points.length; i += 3) {
      const [p, q, r] = [points[i] / 127, points[i + 1] / 127, points[i + 2] / 127];
      const right = Math.cos(turn) * q - Math.sin(turn) * r, back = Math.sin(turn) * q + Math.cos(turn) * r;
      seen.push([right, Math.cos(tilt) * p - Math.sin(tilt) * back, Math.sin(tilt) * p + Math.cos(tilt) * back, i]);
    }
    seen.sort((a, b) => a[2] - b[2]);
    pen.clearRect(0, 0, canvas.width, canvas.height);
    pen.strokeStyle = "#7d858d";
    pen.beginPath();
    pen.arc(half, half, 0.94 * half, 0, 2 * Math.PI);
    pen.stroke();
    for (const [right, up, near, i] of seen) {
      pen.globalAlpha = near < 0 ? 0.25 : 0.95;
      pen.fillStyle = `rgb(${colours[i]},${colours[i + 1]},${colours[i + 2]})`;
      pen.beginPath();
      pen.arc(half * (1 + 0.94 * right), half * (1 - 0.94 * up), near < 0 ? 3 : 5.5, 0, 2 * Math.PI);
      pen.fill();
    }
  });
  row.addEventListener("pointerdown", (event) => row.setPointerCapture(event.pointerId));
  row.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    turn += event.movementX / 120;
    tilt = Math.max(-1.5, Math.min(1.5, tilt - event.movementY / 120));
    paint();
  });
  paint();
}
