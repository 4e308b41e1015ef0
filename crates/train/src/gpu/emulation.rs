//! Emulated device for tests: the kernels compiled as C++ through `emulation.hpp`, run block by block,
//! forwards or backwards. Parameters are checked against the PTX, out-of-bounds accesses fault, and fresh
//! memory holds NaN.

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock, PoisonError};

use libloading::Library;

use super::address::Address;
use super::driver::{Driver, Kernel, Param};
use super::ptx;
use patzer_io::error::{Error, Result};

struct Emulation {
    launch: Launch,
    allocate: unsafe extern "C" fn(usize) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void, usize),
    sizes: Vec<Vec<usize>>,
}

/// Kernel, grid, threads, backwards, parameters.
type Launch = unsafe extern "C" fn(*const c_char, *const c_uint, c_uint, c_int, *mut *mut c_void) -> c_int;

fn compile() -> PathBuf {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/gpu/emulation.hpp");
    let entry = |kernel: &Kernel| format!("    ENTRY({})\n", kernel.name());
    let entries: String = Kernel::ALL.iter().map(entry).collect();
    let text = format!(
        "#include \"{}\"\n#include \"all.cu\"\n\
         template <auto K> void call(void* at) {{ emulation::invoke(K, (void**)at); }}\n\
         #define ENTRY(name) if (!strcmp(kernel, #name)) {{ to = call<name>; }}\n\
         extern \"C\" int emulation_launch(const char* kernel, const unsigned* grid, unsigned threads,\n\
         int backwards, void** params) {{\n    void (*to)(void*) = nullptr;\n{entries}    if (!to) return 1;\n\
         emulation::machine.backwards = backwards;\n\
         emulation::run({{grid[0], grid[1], grid[2]}}, threads, to, params);\n    return 0;\n}}\n",
        header.display()
    );
    let known = std::fs::read_to_string(&header).unwrap() + &text + &ptx::digest();
    let name = patzer_eval::nnue::file::hex(&<sha2::Sha256 as sha2::Digest>::digest(known)[..8]);
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap();
    let library = folder.join(format!("emulation-{name}.so"));
    if library.exists() {
        return library;
    }
    let work = tempfile::tempdir_in(folder).unwrap();
    let (source, made) = (work.path().join("emulation.cpp"), work.path().join("emulation.so"));
    std::fs::write(&source, text).unwrap();
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    // No fused products, as in the PTX. Fortified libraries take the fibers' jumps between stacks for a fault.
    let output = Command::new(&compiler)
        .args(["-std=c++17", "-O2", "-fPIC", "-shared", "-w", "-ffp-contract=off", "-fno-strict-aliasing"])
        // Unaligned loads fault on a GPU.
        .args(["-U_FORTIFY_SOURCE", "-fsanitize=alignment", "-fsanitize-undefined-trap-on-error"])
        .args([Path::new("-I"), &ptx::folder(), &source, Path::new("-o"), &made])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::rename(&made, &library).unwrap();
    library
}

fn emulation() -> &'static Emulation {
    static EMULATION: OnceLock<Emulation> = OnceLock::new();
    EMULATION.get_or_init(|| {
        let path = compile();
        // SAFETY: the library was compiled above, exports these symbols with these types, and is never unloaded.
        unsafe {
            let library: &'static Library = Box::leak(Box::new(Library::new(path).unwrap()));
            Emulation {
                launch: *library.get(b"emulation_launch").unwrap(),
                allocate: *library.get(b"emulation_allocate").unwrap(),
                release: *library.get(b"emulation_release").unwrap(),
                sizes: Kernel::ALL.iter().map(|kernel| ptx::sizes(*kernel)).collect(),
            }
        }
    })
}

pub(crate) struct Emulated {
    emulation: &'static Emulation,
    backwards: bool,
    pub without: Option<Kernel>,
    pub free: u64,
    memory: Vec<(Address, usize)>,
    slots: Vec<(Vec<u8>, Address, f64)>,
}

pub(crate) fn open(backwards: bool) -> Box<dyn Driver> {
    Emulated::with(|device| device.backwards = backwards)
}

impl Emulated {
    pub(crate) fn with(change: impl FnOnce(&mut Emulated)) -> Box<dyn Driver> {
        let (emulation, free) = (emulation(), 1 << 40);
        let (memory, slots) = (Vec::new(), Vec::new());
        let mut device = Emulated { emulation, backwards: false, without: None, free, memory, slots };
        change(&mut device);
        Box::new(device)
    }

    fn check(&self, at: Address, bytes: usize) {
        let within = |(start, size): &(Address, usize)| {
            at.0 >= start.0 && at.0 + bytes as u64 <= start.0 + *size as u64
        };
        assert!(self.memory.iter().any(within), "{bytes} bytes at {at:?} are not allocated");
    }
}

impl Driver for Emulated {
    fn name(&self) -> &str {
        "emulation"
    }

    fn free(&mut self) -> Result<u64> {
        Ok(self.free)
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address> {
        // SAFETY: the function takes any number.
        let at = unsafe { (self.emulation.allocate)(bytes) };
        if at.is_null() {
            return Err(Error::internal("no memory"));
        }
        self.memory.push((Address(at as u64), bytes));
        Ok(Address(at as u64))
    }

    fn clear(&mut self, at: Address, bytes: usize) -> Result<()> {
        self.check(at, bytes);
        // SAFETY: checked above.
        unsafe { std::ptr::write_bytes(at.0 as *mut u8, 0, bytes) };
        Ok(())
    }

    fn write(&mut self, to: Address, bytes: &[u8]) -> Result<()> {
        self.check(to, bytes.len());
        // SAFETY: checked above.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.0 as *mut u8, bytes.len()) };
        Ok(())
    }

    fn read(&mut self, from: Address, bytes: &mut [u8]) -> Result<()> {
        self.check(from, bytes.len());
        // SAFETY: checked above.
        unsafe { std::ptr::copy_nonoverlapping(from.0 as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        Ok(())
    }

    fn launch(&mut self, kernel: Kernel, grid: [u32; 3], block: u32, params: &[Param]) -> Result<()> {
        let sizes: Vec<usize> = params.iter().map(|param| param.size).collect();
        assert_eq!(sizes, self.emulation.sizes[kernel as usize], "the parameters of {kernel:?}");
        assert!(grid.iter().all(|n| *n > 0) && grid[1..].iter().all(|n| *n < 1 << 16), "{kernel:?} {grid:?}");
        if self.without == Some(kernel) {
            return Ok(());
        }
        let name = CString::new(kernel.name()).unwrap();
        let mut pointers = super::graph::pointers(params);
        let backwards = c_int::from(self.backwards);
        // The library has one global machine.
        static MACHINE: Mutex<()> = Mutex::new(());
        let _machine = MACHINE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the parameters have the sizes of the kernel's declaration; a fault ends the test.
        let code = unsafe {
            (self.emulation.launch)(name.as_ptr(), grid.as_ptr(), block, backwards, pointers.as_mut_ptr())
        };
        assert_eq!(code, 0, "{kernel:?}");
        Ok(())
    }

    fn begin(&mut self) {}

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    fn open(&mut self, bytes: usize) -> Result<()> {
        for _ in 0..super::SLOTS {
            let at = self.allocate(bytes)?;
            self.slots.push((vec![0xff; bytes], at, f64::NAN));
        }
        Ok(())
    }

    fn slot(&mut self, slot: usize) -> Result<&mut [u8]> {
        Ok(&mut self.slots[slot].0)
    }

    fn send(&mut self, slot: usize, bytes: usize) -> Result<Address> {
        let (host, at) = (std::mem::take(&mut self.slots[slot].0), self.slots[slot].1);
        self.write(at, &host[..bytes])?;
        self.slots[slot].0 = host;
        Ok(at)
    }

    fn finish(&mut self, slot: usize, result: Address) -> Result<()> {
        let mut bytes = [0; 8];
        self.read(result, &mut bytes)?;
        self.slots[slot].2 = f64::from_le_bytes(bytes);
        Ok(())
    }

    fn result(&mut self, slot: usize) -> Result<f64> {
        Ok(self.slots[slot].2)
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        for (at, bytes) in &self.memory {
            // SAFETY: allocated by the same library, once.
            unsafe { (self.emulation.release)(at.0 as *mut c_void, *bytes) };
        }
    }
}
