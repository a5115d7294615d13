// The page as a part of another page of the same server (the console of `acu serve`): that page keeps the address and the theme.
// It is sent {address, isStep} when the reader chose something, and sends {address} or {theme}.
const isEmbedded = parent !== window;
function sendAddress(address, isStep) { parent.postMessage({ acu: "address", address, isStep }, location.origin === "null" ? "*" : location.origin); }
if (isEmbedded) {
  document.body.dataset.embedded = "";
  addEventListener("message", (event) => {
    if (event.source !== parent || !event.data) return;
    if (event.data.theme === "dark" || event.data.theme === "light") act.theme(event.data.theme);
    if (typeof event.data.address === "string") location.replace("#" + event.data.address);
  });
}
