//! A picture in progress: a frame, axes and marks. Positions are fractions of the plot.

use std::fmt::Write;

use crate::report::escape::html;

/// The outer size of a picture in CSS pixels at its natural scale, and the window size it is for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    pub class: &'static str,
    pub width: f64,
    pub height: f64,
}

pub const SIZES: [Size; 3] = [
    size("small", 358.0, 250.0),
    size("medium", 600.0, 290.0),
    size("large", 912.0, 330.0),
];

const fn size(class: &'static str, width: f64, height: f64) -> Size {
    Size {
        class,
        width,
        height,
    }
}

const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 44.0;

/// SVG text under construction; x and y are fractions of the plot, y upwards.
pub struct Drawing {
    pub size: Size,
    svg: String,
    /// The places of labels drawn so far: from x, to x, y.
    said: Vec<(f64, f64, f64)>,
}

impl Drawing {
    pub fn new(size: Size) -> Self {
        Self {
            size,
            svg: String::new(),
            said: Vec::new(),
        }
    }

    fn plot_width(&self) -> f64 {
        self.size.width - LEFT - RIGHT
    }

    /// From a fraction to pixels.
    pub fn x(&self, fraction: f64) -> f64 {
        LEFT + fraction * self.plot_width()
    }

    fn y(&self, fraction: f64) -> f64 {
        self.size.height - BOTTOM - fraction * (self.size.height - TOP - BOTTOM)
    }

    fn put(&mut self, part: std::fmt::Arguments<'_>) {
        // Writing to a String cannot fail.
        let _ = self.svg.write_fmt(part);
    }

    /// Horizontal lines with their labels; above them, what they count.
    pub fn y_axis(&mut self, ticks: &[(f64, String)], unit: &str) {
        let (left, right) = (self.x(0.0), self.x(1.0));
        for (place, label) in ticks {
            let y = self.y(*place);
            let class = if *place == 0.0 { "base" } else { "grid" };
            self.put(format_args!(
                "<line class=\"{class}\" x1=\"{left:.1}\" y1=\"{y:.1}\" x2=\"{right:.1}\" y2=\"{y:.1}\"/>"
            ));
            self.ending("", (left - 8.0, y + 4.0), label);
        }
        let unit = html(unit);
        self.put(format_args!("<text x=\"0\" y=\"12\">{unit}</text>\n"));
    }

    /// Words to the left of a place, in pixels.
    fn ending(&mut self, class: &str, (x, y): (f64, f64), words: &str) {
        let words = html(words);
        self.put(format_args!(
            "<text{class} x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{words}</text>\n"
        ));
    }

    /// Labels below the plot, without those that would touch the previous one. Their unit is at the
    /// right end, below them.
    pub fn x_axis(&mut self, ticks: &[(f64, String)], unit: &str) {
        let y = self.y(0.0);
        let mut free_from = f64::NEG_INFINITY;
        for (place, label) in ticks {
            let x = self.x(*place);
            let half = width_of(label) / 2.0;
            if x - half < free_from {
                continue;
            }
            free_from = x + half + 8.0;
            // The outermost labels must stay inside the picture.
            let shown = x.min(self.size.width - half);
            let (end, below, label) = (y + 4.0, y + 18.0, html(label));
            self.put(format_args!(
                "<line class=\"base\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{x:.1}\" y2=\"{end:.1}\"/>\
                 <text x=\"{shown:.1}\" y=\"{below:.1}\" text-anchor=\"middle\">{label}</text>\n"
            ));
        }
        self.ending("", (self.x(1.0), y + 38.0), unit);
    }

    pub fn curve(&mut self, points: &[(f64, f64)], class: &str) {
        let path = self.path(points);
        self.put(format_args!("<path class=\"{class}\" d=\"{path}\"/>\n"));
    }

    /// The area below a curve.
    pub fn area(&mut self, points: &[(f64, f64)]) {
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        let (path, ground) = (self.path(points), self.y(0.0));
        let (from, to) = (self.x(first.0), self.x(last.0));
        self.put(format_args!(
            "<path class=\"area\" d=\"{path}L{to:.1} {ground:.1}L{from:.1} {ground:.1}Z\"/>\n"
        ));
    }

    fn path(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        for (place, (x, y)) in points.iter().enumerate() {
            let letter = if place == 0 { 'M' } else { 'L' };
            let _ = write!(path, "{letter}{:.1} {:.1}", self.x(*x), self.y(*y));
        }
        path
    }

    /// A bar from one x to another; one that is not empty is at least one pixel high.
    pub fn bar(&mut self, from: f64, to: f64, height: f64) {
        if height <= 0.0 {
            return;
        }
        let (left, right, ground) = (self.x(from), self.x(to), self.y(0.0));
        let top = self.y(height).min(ground - 1.0);
        let gap = ((right - left) * 0.08).min(2.0);
        let (x, width, height) = (left + gap / 2.0, right - left - gap, ground - top);
        self.put(format_args!(
            "<rect class=\"bar\" x=\"{x:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"1\"/>\n"
        ));
    }

    /// A dot with a label above it, unless another label is already there: draw the most important
    /// one first.
    pub fn dot(&mut self, x: f64, y: f64, said: &str) {
        let (x, y, width) = (self.x(x), self.y(y), width_of(said));
        self.put(format_args!(
            "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>\n"
        ));
        // A curve of percentiles rises: there is room to the left of a dot.
        let from = (x - 5.0 - width).max(LEFT + 4.0);
        let (to, y) = (from + width, y - 9.0);
        let meets = |(left, right, at): &(f64, f64, f64)| {
            from < right + 6.0 && *left < to + 6.0 && (at - y).abs() < 14.0
        };
        if self.said.iter().any(meets) {
            return;
        }
        self.said.push((from, to, y));
        self.ending(" class=\"said\"", (to, y), said);
    }

    /// The finished `<svg>`; `id` must be unique in the page.
    pub fn finish(self, id: &str, title: &str, description: &str) -> String {
        let Size {
            class,
            width,
            height,
        } = self.size;
        let (title, description, svg) = (html(title), html(description), self.svg);
        format!(
            "<svg class=\"{class}\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-labelledby=\"{id}-{class}-title {id}-{class}-desc\">\n<title id=\"{id}-{class}-title\">{title}</title>\n\
             <desc id=\"{id}-{class}-desc\">{description}</desc>\n{svg}</svg>\n"
        )
    }
}

/// The approximate width of a label in 12 px letters.
fn width_of(label: &str) -> f64 {
    label.chars().count() as f64 * 7.0
}
