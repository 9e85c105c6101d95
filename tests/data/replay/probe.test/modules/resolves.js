export default ["./x.js", "/x.js", "http://other.test/x.js"].map(url => import.meta.resolve(url));
