'use strict';
/* Draws the charts from the numbers in #data. Without this script the page loses nothing but the pictures. */
(function () {
  const data = JSON.parse(document.getElementById('data').textContent);
  const root = document.documentElement;
  const charts = [];
  const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

  /* "x y;x y" as [[x, y], [x, y]]. */
  function points(text) {
    return text ? text.split(';').map(function (p) { return p.split(' ').map(Number); }) : [];
  }
  function colour(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }
  function series(i) {
    return colour('--c' + (i % 6));
  }
  function faint(hex, alpha) {
    const n = parseInt(hex.slice(1), 16);
    return 'rgba(' + (n >> 16) + ',' + ((n >> 8) & 255) + ',' + (n & 255) + ',' + alpha + ')';
  }
  function axis(title, more) {
    return Object.assign({
      title: {display: true, text: title, color: colour('--soft')},
      ticks: {color: colour('--soft'), maxRotation: 0},
      grid: {color: colour('--grid'), drawBorder: false}
    }, more);
  }
  /* Powers of ten only, written plainly: 0.001, 0.01, 0.1, 1. */
  function decades(value) {
    const power = Math.log10(value);
    return Math.abs(power - Math.round(power)) < 1e-9 ? String(Number(value.toPrecision(1))) : '';
  }
  function logAxis(title, min, max) {
    const a = axis(title, {type: 'logarithmic', min: min, max: max});
    a.ticks = {color: colour('--soft'), maxRotation: 0, autoSkip: false, callback: decades};
    a.grid = {color: function (c) { return decades(c.tick.value) ? colour('--grid') : 'transparent'; }, drawBorder: false};
    return a;
  }
  function options(scales, more) {
    return Object.assign({
      animation: false, responsive: true, maintainAspectRatio: false, scales: scales,
      interaction: {mode: 'nearest', intersect: false},
      plugins: {
        legend: {position: 'bottom', labels: {color: colour('--ink'), boxWidth: 26, boxHeight: 0, usePointStyle: false,
                 filter: function (item, chart) { return item.text !== '' && !chart.datasets[item.datasetIndex].direct; }}},
        tooltip: {callbacks: {label: function (c) {
          return c.dataset.label + ': ' + Number(c.parsed.x.toPrecision(3)) + ' → ' + Number(c.parsed.y.toPrecision(3));
        }}}
      }
    }, more);
  }

  /* The largest TPR that (epsilon, delta) allows. */
  function allowed(epsilon, delta, fpr) {
    return Math.min(1, Math.exp(epsilon) * fpr + delta, 1 - Math.exp(-epsilon) * (1 - delta - fpr));
  }
  function grid(low) {
    const xs = [];
    for (let i = 0; i <= 100; i++) xs.push(Math.pow(low, 1 - i / 100));
    return xs;
  }

  /* Names at the curves themselves, each a step to the right of the one before, so that they do not cover each other. */
  const labels = {
    id: 'labels',
    afterDatasetsDraw: function (chart) {
      const ctx = chart.ctx, area = chart.chartArea;
      const named = chart.data.datasets.filter(function (s) { return s.direct; });
      ctx.save();
      ctx.font = '11px ' + Chart.defaults.font.family;
      ctx.textBaseline = 'bottom';
      ctx.lineWidth = 3;
      ctx.strokeStyle = colour('--paper');
      named.forEach(function (set, i) {
        const x = area.left + (area.right - area.left) * (0.04 + 0.8 * i / named.length), here = chart.scales.x.getValueForPixel(x);
        const before = set.data.filter(function (p) { return p.x <= here; }), at = before.length ? before[before.length - 1] : set.data[0];
        const y = Math.max(chart.scales.y.getPixelForValue(at.y) - 2, area.top + 12);
        ctx.strokeText(set.direct, x, y);
        ctx.fillStyle = set.borderColor;
        ctx.fillText(set.direct, x, y);
      });
      ctx.restore();
    }
  };

  function roc(group) {
    const rows = data.rows.filter(function (r) { return r.group === group && r.roc; });
    const low = Math.min.apply(null, rows.map(function (r) { return 0.5 / r.nonmembers; }));
    const lowest = Math.min.apply(null, rows.map(function (r) { return 0.5 / r.members; }));
    const xs = grid(low), sets = [];
    const alone = rows.length === 1 && rows[0].curves;
    if (alone)
      alone.forEach(function (c, i) {
        sets.push({label: c.label + ' (AUC ' + c.auc.toFixed(3) + ')', direct: c.label, stepped: true, borderColor: series(i), borderWidth: 2, pointRadius: 0,
                   borderDash: dashes[i % 4], pointHitRadius: 6,
                   data: points(c.roc).map(function (p) { return {x: Math.max(p[0], low), y: Math.max(p[1], lowest)}; })});
      });
    rows.forEach(function (r, i) {
      if (r.claimed_epsilon != null)
        sets.push({label: 'forbidden by the claim of ε = ' + Number(r.claimed_epsilon.toPrecision(3)), borderColor: colour('--soft'), borderWidth: 1.2,
                   borderDash: [6, 4], backgroundColor: faint(colour('--soft'), 0.13), fill: 'end', pointRadius: 0,
                   data: xs.map(function (x) { return {x: x, y: allowed(r.claimed_epsilon, r.claimed_delta, x)}; })});
      if (alone) return;
      const steps = points(r.roc).map(function (p) { return {x: Math.max(p[0], low), y: Math.max(p[1], lowest)}; });
      sets.push({label: r.label + ' (AUC ' + r.auc[0].toFixed(3) + ')', data: steps, stepped: true, borderColor: series(i),
                 borderDash: dashes[Math.floor(i / 6) % 4], borderWidth: 2, pointRadius: 0, pointHitRadius: 6});
      if (r.epsilon != null)
        sets.push({label: 'forbidden by ε ≤ ' + Number(r.epsilon.toPrecision(3)), borderColor: series(i), borderWidth: 1.2,
                   borderDash: [6, 4], backgroundColor: faint(series(i), 0.13), fill: 'end', pointRadius: 0,
                   data: xs.map(function (x) { return {x: x, y: allowed(r.epsilon, r.delta, x)}; })});
    });
    sets.push({label: 'guessing', data: xs.map(function (x) { return {x: x, y: Math.max(x, lowest)}; }), borderColor: colour('--soft'),
               borderWidth: 1.2, borderDash: [2, 3], pointRadius: 0});
    return {type: 'line', data: {datasets: sets}, plugins: [labels],
            options: options({x: logAxis('false-positive rate', low, 1), y: logAxis('true-positive rate', lowest, 1)})};
  }

  /* Outlines of two histograms, each with area 1. */
  function scores() {
    const h = data.rows[0].scores, bins = h.member.length, width = (h.upper - h.lower) / bins || 1;
    function outline(counts, name, i) {
      const total = counts.reduce(function (a, b) { return a + b; }, 0) || 1;
      const xys = counts.map(function (c, k) { return {x: h.lower + k * width, y: c / total}; });
      xys.push({x: h.lower + bins * width, y: 0});
      return {label: name, data: xys, stepped: true, borderColor: series(i), backgroundColor: faint(series(i), 0.18), fill: 'origin',
              borderDash: dashes[i], borderWidth: 1.6, pointRadius: 0, pointHitRadius: 4};
    }
    return {type: 'line', data: {datasets: [outline(h.member, 'members', 0), outline(h.nonmember, 'non-members', 1)]},
            options: options({x: axis('score, higher = more member-like', {type: 'linear', min: h.lower, max: h.upper}),
                              y: axis('share', {min: 0})})};
  }

  /* Intervals as thin bars, drawn behind the points. */
  const bars = {
    id: 'bars',
    beforeDatasetsDraw: function (chart) {
      const ctx = chart.ctx;
      chart.data.datasets.forEach(function (set, k) {
        if (!set.bars || !chart.isDatasetVisible(k)) return;
        ctx.save();
        ctx.strokeStyle = set.borderColor;
        ctx.lineWidth = 1.5;
        set.data.forEach(function (p, i) {
          const x = chart.scales.x.getPixelForValue(p.x), b = set.bars[i];
          const top = chart.scales.y.getPixelForValue(b[2]), bottom = chart.scales.y.getPixelForValue(b[1]);
          ctx.beginPath();
          ctx.moveTo(x, top); ctx.lineTo(x, bottom);
          ctx.moveTo(x - 4, top); ctx.lineTo(x + 4, top);
          ctx.moveTo(x - 4, bottom); ctx.lineTo(x + 4, bottom);
          ctx.stroke();
        });
        ctx.restore();
      });
    }
  };

  function cost(group) {
    const all = data.rows.filter(function (r) { return r.group === group; });
    const rows = all.filter(function (r) { return r.protected && r.accuracy; });
    rows.sort(function (a, b) { return a.scale - b.scale; });
    const clean = all.find(function (r) { return !r.protected; });
    const scales = rows.map(function (r) { return r.scale; });
    const low = Math.min.apply(null, scales) / 2, high = Math.max.apply(null, scales) * 2, sets = [];
    function add(name, key, c, style) {
      const shown = rows.filter(function (r) { return r[key]; });
      if (!shown.length) return;
      sets.push({label: name, data: shown.map(function (r) { return {x: r.scale, y: r[key][0]}; }),
                 bars: shown.map(function (r) { return r[key]; }), borderColor: c, backgroundColor: c, pointRadius: 4, pointStyle: style,
                 borderWidth: 2});
      if (clean && clean[key])
        sets.push({label: name + ', no noise', data: [{x: low, y: clean[key][0]}, {x: high, y: clean[key][0]}], borderColor: c, borderDash: [7, 4],
                   borderWidth: 1.3, pointRadius: 0});
    }
    add('accuracy', 'accuracy', series(2), 'circle');
    add('attack AUC', 'auc', series(1), 'rectRot');
    const chance = rows.length ? rows[0].chance : null;
    if (chance != null)
      sets.push({label: 'guessing the class', data: [{x: low, y: chance}, {x: high, y: chance}], borderColor: series(2), borderDash: [2, 3], borderWidth: 1.2,
                 pointRadius: 0});
    sets.push({label: 'guessing members', data: [{x: low, y: 0.5}, {x: high, y: 0.5}], borderColor: series(1), borderDash: [2, 3], borderWidth: 1.2, pointRadius: 0});
    const x = axis('noise scale (logarithmic)', {type: 'logarithmic', min: low, max: high});
    x.ticks = {color: colour('--soft'), maxRotation: 0, autoSkip: false, callback: function (v) {
      return scales.some(function (s) { return Math.abs(s / v - 1) < 1e-6; }) ? String(Number(v.toPrecision(2))) : '';
    }};
    /* One tick for each scale that was tried. */
    x.afterBuildTicks = function (scale) { scale.ticks = scales.map(function (s) { return {value: s}; }); };
    return {type: 'line', data: {datasets: sets}, plugins: [bars], options: options({x: x, y: axis('', {min: 0, max: 1, title: {display: false}})})};
  }

  function training(i) {
    const t = data.training[i];
    const names = t.series.length;
    /* Two curves may have very different units: the second one gets its own axis. */
    const scales = {x: axis(t.x, {type: 'linear'}), y: axis(names === 2 ? t.series[0].name : '', {})};
    if (names === 2) scales.y1 = axis(t.series[1].name, {position: 'right', grid: {drawOnChartArea: false}});
    return {type: 'line', data: {datasets: t.series.map(function (s, k) {
      const xys = points(s.points);
      return {label: s.name, data: xys.map(function (p) { return {x: p[0], y: p[1]}; }), borderColor: series(k), backgroundColor: series(k), borderWidth: 2,
              pointRadius: xys.length < 30 ? 2.5 : 0, yAxisID: names === 2 && k === 1 ? 'y1' : 'y'};
    })}, options: options(scales)};
  }

  /* One line per mechanism; value(point) is [mean, lower, upper] or null, place(point) its x; above(point), if given, is what
     no attack exceeds there. */
  function sweep(group, place, value, xAxis, yTitle, level, levelName, above) {
    const sets = [];
    data.sweeps.filter(function (c) { return c.group === group; }).forEach(function (c, i) {
      const shown = c.points.filter(function (p) { return value(p) && place(p) != null; });
      shown.sort(function (a, b) { return place(a) - place(b); });
      if (!shown.length) return;
      sets.push({label: c.label, data: shown.map(function (p) { return {x: place(p), y: value(p)[0]}; }), bars: shown.map(value),
                 borderColor: series(i), backgroundColor: series(i), borderDash: dashes[Math.floor(i / 6) % 4], borderWidth: 2, pointRadius: 3});
    });
    const measured = sets.slice();
    if (above) {
      data.sweeps.filter(function (c) { return c.group === group; }).forEach(function (c, i) {
        const shown = c.points.filter(function (p) { return above(p) != null && place(p) != null; });
        shown.sort(function (a, b) { return place(a) - place(b); });
        /* Not in the legend: the colour tells the settings apart. */
        sets.push({label: '', data: shown.map(function (p) { return {x: place(p), y: above(p)}; }), borderColor: faint(series(i), 0.6),
                   borderDash: [3, 3], borderWidth: 1.3, pointRadius: 0});
      });
    }
    const xs = [].concat.apply([], measured.map(function (s) { return s.data.map(function (p) { return p.x; }); }));
    const low = Math.min.apply(null, xs), high = Math.max.apply(null, xs);
    const ends = [].concat.apply([level], measured.map(function (s) { return [].concat.apply([], s.bars.map(function (b) { return [b[1], b[2]]; })); }));
    sets.push({label: levelName, data: [{x: low, y: level}, {x: high, y: level}], borderColor: colour('--soft'), borderWidth: 1.2, borderDash: [2, 3],
               pointRadius: 0});
    /* What was measured fills the figure; ceilings may leave it at the top. */
    const limits = {suggestedMin: Math.min.apply(null, ends), suggestedMax: Math.max.apply(null, ends)};
    if (above) limits.max = Math.min(1, level + 3 * (limits.suggestedMax - level) + 0.02);
    const y = axis(yTitle, limits);
    return {type: 'line', data: {datasets: sets}, plugins: [bars], options: options({x: xAxis(low, high), y: y})};
  }
  function epsilonAxis(low, high) { return logAxis('ε', low / 1.3, high * 1.3); }
  function sweepLoss(group) {
    return sweep(group, function (p) { return p.x; }, function (p) { return p.loss; }, epsilonAxis, 'utility loss', 0, 'no loss');
  }
  function sweepAttack(group, k) {
    return sweep(group, function (p) { return p.x; }, function (p) { return p.attacks[k]; }, epsilonAxis, 'attack accuracy', 0.5, 'guessing',
                 function (p) { return p.ceiling; });
  }
  function sweepRate(group, k) {
    return sweep(group, function (p) { return p.x; }, function (p) { return p.rates[k]; }, epsilonAxis, 'TPR at FPR ' + data.rate, data.rate, 'guessing',
                 function (p) { return p.top; });
  }
  function sweepTrade(group, k) {
    return sweep(group, function (p) { return p.loss && p.loss[0]; }, function (p) { return p.attacks[k]; },
                 function () { return axis('utility loss', {type: 'linear'}); }, 'attack accuracy', 0.5, 'guessing');
  }

  const makers = {roc: roc, scores: scores, cost: cost, training: training, 'sweep-loss': sweepLoss, 'sweep-attack': sweepAttack, 'sweep-rate': sweepRate,
                  'sweep-trade': sweepTrade};
  function draw() {
    charts.splice(0).forEach(function (c) { c.destroy(); });
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    document.querySelectorAll('canvas[data-chart]').forEach(function (canvas) {
      charts.push(new Chart(canvas, makers[canvas.dataset.chart](Number(canvas.dataset.group), Number(canvas.dataset.attack))));
    });
  }

  root.classList.add('drawn');
  const tools = document.querySelector('.tools');
  tools.hidden = false;
  document.getElementById('print').addEventListener('click', function () { window.print(); });
  /* Paper cannot be unfolded, and is white: light colours while printing, whatever the screen has. */
  let folded = [];
  window.addEventListener('beforeprint', function () {
    folded = Array.from(document.querySelectorAll('details:not([open])'));
    folded.forEach(function (d) { d.open = true; });
    root.classList.add('paper');
    draw();
  });
  window.addEventListener('afterprint', function () {
    folded.forEach(function (d) { d.open = false; });
    root.classList.remove('paper');
    draw();
  });
  /* Only tables that do not fit show the sign for it. */
  function sign() {
    document.querySelectorAll('.scroll').forEach(function (box) { box.classList.toggle('wide', box.scrollWidth > box.clientWidth + 1); });
  }
  window.addEventListener('resize', sign);
  document.addEventListener('toggle', sign, true);
  sign();
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
  draw();
})();
