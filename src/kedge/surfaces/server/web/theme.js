// Runs before the first paint, so that a chosen theme does not flash. Must stay a classic script.
(() => {
  try {
    const wanted = localStorage.getItem("kedge.theme");
    if (wanted === "light" || wanted === "dark") document.documentElement.dataset.theme = wanted;
  } catch {
    // no storage here: the system's colours
  }
})();
