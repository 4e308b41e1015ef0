/// A function of two variables to second order; the second derivatives are 00, 01, 11.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quadratic {
    pub value: f64,
    pub gradient: [f64; 2],
    pub hessian: [f64; 3],
}

impl Quadratic {
    /// Checks the derivatives of `function` against differences, for tests.
    ///
    /// # Panics
    /// A derivative differs.
    pub fn check(function: impl Fn(f64, f64) -> Quadratic, (x, y): (f64, f64)) {
        let close =
            |got: f64, want: f64| assert!((got - want).abs() < 1e-5 * want.abs().max(1.0), "{got} {want}");
        let f = |dx: f64, dy: f64| function(x + dx, y + dy);
        let (at, h) = (f(0.0, 0.0), 1e-6);
        close(at.gradient[0], (f(h, 0.0).value - f(-h, 0.0).value) / (2.0 * h));
        close(at.gradient[1], (f(0.0, h).value - f(0.0, -h).value) / (2.0 * h));
        close(at.hessian[0], (f(h, 0.0).gradient[0] - f(-h, 0.0).gradient[0]) / (2.0 * h));
        close(at.hessian[1], (f(0.0, h).gradient[0] - f(0.0, -h).gradient[0]) / (2.0 * h));
        close(at.hessian[2], (f(0.0, h).gradient[1] - f(0.0, -h).gradient[1]) / (2.0 * h));
    }
}
