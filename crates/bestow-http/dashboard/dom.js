/**
 * Elements made from values. Text is always text: nothing here parses markup.
 *
 * @typedef {import("./types.js").Child} Child
 * @typedef {{ [name: string]: unknown }} Attributes
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Returns a new element. `on…` attributes are listeners, `true` and `false` set or leave out an attribute.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * Returns a new SVG element.
 *
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Replaces the children of an element.
 *
 * @param {Element} parent
 * @param {...Child} children
 */
export function replace(parent, ...children) {
  parent.replaceChildren(...nodes(children));
}

/**
 * Returns children as nodes, without the empty ones.
 *
 * @param {Child[]} children
 * @returns {Node[]}
 */
function nodes(children) {
  return children.flatMap((child) => {
    if (child === null || child === undefined || child === false) return [];
    if (Array.isArray(child)) return nodes(child);
    return [child instanceof Node ? child : document.createTextNode(String(child))];
  });
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes | null | undefined} attributes
 * @param {Child[]} children
 * @returns {E}
 */
function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) set(element, name, value);
  element.append(...nodes(children));
  return element;
}

/**
 * @param {Element} element
 * @param {string} name
 * @param {unknown} value
 */
function set(element, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (typeof value === "function") {
    element.addEventListener(name.slice(2).toLowerCase(), /** @type {EventListener} */ (value));
  } else if (name === "style" || name.startsWith("on")) {
    throw new TypeError(`an element has no attribute ${name} here`);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}
