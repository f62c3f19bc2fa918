/* Measures the page in which it is evaluated (tests/support/browser.py): one line for each fault, which is what is wider than the window,
   cut off, hard to read, or out of order. Where the page is asked as for paper, its rules for paper hold. */
(async function () {
  'use strict';
  const faults = [], print = matchMedia('print').matches, dark = matchMedia('(prefers-color-scheme: dark)').matches;

  function fault(kind, node, more) {
    const e = node.nodeType === 3 ? node.parentElement : node;
    const text = (node.textContent || '').trim().replace(/\s+/g, ' ').slice(0, 60);
    faults.push(kind + ': <' + e.tagName.toLowerCase() + (e.className ? ' class=' + e.className : '') + '> "' + text + '" ' + more);
  }

  /* [red, green, blue, alpha] of "rgb(1, 2, 3)", "rgba(...)" or "color(srgb ...)". */
  function colour(text) {
    const n = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number), unit = /^color/.test(text) ? 255 : 1;
    return [n[0] * unit, n[1] * unit, n[2] * unit, n.length > 3 ? n[3] : 1];
  }
  function over(top, below) {
    const mix = function (i) { return top[i] * top[3] + below[i] * (1 - top[3]); };
    return [mix(0), mix(1), mix(2), 1];
  }
  function background(e) {
    const layers = [];
    for (; e; e = e.parentElement) layers.push(colour(getComputedStyle(e).backgroundColor));
    return layers.reverse().reduce(function (below, top) { return over(top, below); }, dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  }
  function luminance(c) {
    const l = c.slice(0, 3).map(function (x) { x /= 255; return x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); });
    return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
  }
  /* Text of a drawing has a fill and no colour. */
  function contrast(e) {
    const style = getComputedStyle(e), behind = background(e);
    const ink = over(colour(e instanceof SVGElement ? style.fill : style.color), behind);
    const a = luminance(ink), b = luminance(behind);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  }

  /* A box that is scrolled by hand shows its text all the same; any other box cuts it off. */
  function place(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    let scrolls = false;
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      scrolls = false;
      for (let e = node.parentElement; e && !scrolls; e = e.parentElement) {
        const style = getComputedStyle(e), frame = e.getBoundingClientRect();
        scrolls = /auto|scroll/.test(style.overflowX);
        if (/hidden|clip/.test(style.overflowX + style.overflowY) &&
            (box.right > frame.right + 1 || box.left < frame.left - 1 || box.bottom > frame.bottom + 1 || box.top < frame.top - 1))
          return fault('cut off', node, 'by <' + e.tagName.toLowerCase() + '>');
      }
      if (!scrolls && (box.right > innerWidth + 1 || box.left < -1))
        return fault('outside', node, Math.round(box.left) + ' to ' + Math.round(box.right) + ' of ' + innerWidth);
    }
  }
  function texts() {
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let n = 0;
    while (walk.nextNode()) {
      const node = walk.currentNode, e = node.parentElement;
      if (!node.textContent.trim() || /^(SCRIPT|STYLE)$/.test(e.tagName) || e.closest('.skip')) continue;
      if (!e.checkVisibility({contentVisibilityAuto: true, visibilityProperty: true})) continue;
      n++;
      place(node);
      const c = contrast(e);
      if (c < 4.5) fault('contrast', node, c.toFixed(2));
    }
    if (n < 20) faults.push('too little text: ' + n);
  }
  /* A table that is wider than its box says so. */
  function signs() {
    document.querySelectorAll('.scroll').forEach(function (box) {
      const sign = getComputedStyle(box, '::before');
      if (box.scrollWidth > box.clientWidth + 1 && (sign.content === 'none' || sign.display === 'none'))
        fault('no sign of scrolling', box.querySelector('caption') || box, box.scrollWidth + ' > ' + box.clientWidth);
    });
  }
  function heads() {
    const all = document.querySelectorAll('h1, h2, h3, caption');
    if (all.length === 0 || all[0].tagName !== 'H1' || document.querySelectorAll('h1').length !== 1)
      faults.push('the first heading is not the one <h1>');
    if (all.length && all[0].dataset.verdict === undefined) fault('the first heading is not the verdict', all[0], '');
    if (print)
      all.forEach(function (e) {
        if (getComputedStyle(e).breakAfter !== 'avoid') fault('a page may break below', e, '');
      });
  }
  /* Letters of plots follow the alphabet down the page. */
  function letters() {
    const found = Array.from(document.querySelectorAll('figcaption')).map(function (e) { return (e.textContent.match(/^Plot ([A-Z]+)/) || [])[1]; });
    found.forEach(function (letter, i) {
      const wanted = (i < 26 ? '' : String.fromCharCode(64 + Math.floor(i / 26))) + String.fromCharCode(65 + i % 26);
      if (letter !== wanted) faults.push('plot ' + (i + 1) + ' is called ' + letter + ', not ' + wanted);
    });
  }

  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  await new Promise(function (done) { setTimeout(done, 300); }); /* the page hears of what was unfolded */
  if (!print && document.documentElement.scrollWidth > innerWidth)
    faults.push('page: ' + document.documentElement.scrollWidth + ' wide in a window of ' + innerWidth);
  texts();
  if (!print) signs();
  heads();
  letters();
  return ['width ' + innerWidth + ', ' + (print ? 'print' : dark ? 'dark' : 'light') + ', faults ' + faults.length].concat(faults).join('\n');
})()
