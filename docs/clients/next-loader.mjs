// React and Next.js: next.config.js has images: { loader: "custom", loaderFile: "./next-loader.mjs" }.
// Where the daemon is, as browsers reach it.
const proxy = process.env.NEXT_PUBLIC_IMAGE_PROXY ?? "http://127.0.0.1:8080";

/** Called by <Image> for each width; a source must be a whole URL. */
export default function loader({ src, width, quality }) {
  const url = new URL(src, process.env.NEXT_PUBLIC_SITE).href;
  const options = quality ? `&quality=${quality}` : "";
  return `${proxy}/img?url=${encodeURIComponent(url)}&transform=resize:${width}x${options}`;
}
