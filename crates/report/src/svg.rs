//! An SVG writer: elements, attributes and text, all escaped.

use std::fmt::{self, Display, Write as _};

/// A drawing under construction.
pub(crate) struct Svg {
    out: String,
}

/// The fonts that a reader's machine may have.
const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

impl Svg {
    /// An empty drawing on white ground; the title is for those who cannot see it.
    pub(crate) fn new(width: u32, height: u32, title: &str) -> Self {
        let mut svg = Svg::begun(width, height, title);
        svg.element("rect", &[("width", &width), ("height", &height), ("fill", &"#ffffff")]);
        svg
    }

    fn begun(width: u32, height: u32, title: &str) -> Self {
        let mut svg = Svg { out: String::new() };
        svg.open(
            "svg",
            &[
                ("xmlns", &"http://www.w3.org/2000/svg"),
                ("viewBox", &format_args!("0 0 {width} {height}")),
                ("width", &width),
                ("height", &height),
                ("role", &"img"),
                ("font-family", &FONTS),
            ],
        );
        svg.out += &format!("<title>{}</title>\n", Escaped(title));
        svg
    }

    /// An empty drawing with a style sheet, on the ground that it defines as `--bg`.
    pub(crate) fn styled((width, height): (u32, u32), title: &str, style: &str) -> Self {
        let mut svg = Svg::begun(width, height, title);
        svg.out += &format!("<style>{style}</style>\n");
        svg.element("rect", &[("width", &width), ("height", &height), ("fill", &"var(--bg)")]);
        svg
    }

    /// An element without contents.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes);
        self.out += "/>\n";
    }

    /// An element with a title, which a pointer shows.
    pub(crate) fn titled(&mut self, name: &str, title: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes);
        writeln!(self.out, "><title>{}</title></{name}>", Escaped(title)).expect(STRING);
    }

    /// A line of text.
    pub(crate) fn text(&mut self, text: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag("text", attributes);
        writeln!(self.out, ">{}</text>", Escaped(text)).expect(STRING);
    }

    /// The finished drawing.
    pub(crate) fn finish(mut self) -> String {
        self.out += "</svg>\n";
        self.out
    }

    fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.tag(name, attributes);
        self.out += ">\n";
    }

    fn tag(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        write!(self.out, "<{name}").expect(STRING);
        for (name, value) in attributes {
            write!(self.out, " {name}=\"{}\"", Escaped(&value.to_string())).expect(STRING);
        }
    }
}

const STRING: &str = "writing to a string never fails";

/// Text that cannot be taken for markup. Characters that XML forbids become blanks.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => f.write_char(' ')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut svg = Svg::new(10, 20, "a < b & c");
        svg.text("</text><script>\u{1b}", &[("fill", &"\"red\" onload=\"x")]);
        let text = svg.finish();
        assert!(text.contains("<title>a &lt; b &amp; c</title>"));
        assert!(text.contains("&lt;/text&gt;&lt;script&gt; </text>"));
        assert!(text.contains("fill=\"&quot;red&quot; onload=&quot;x\""));
        assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"));
    }
}
