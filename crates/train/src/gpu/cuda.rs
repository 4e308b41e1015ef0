//! NVIDIA's driver, loaded at run time; it compiles the PTX for the device it finds.
//!
//! One stream computes, one copies slots. The host waits only before it fills a slot that the device still reads.

use std::ffi::CString;
use std::sync::Arc;

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute_enum, CUdeviceptr, CUfunction, CUmodule, CUresult};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};

use super::address::Address;
use super::driver::{Driver, Kernel, Param};
use super::graph::{self, Graph, Operation};
use patzer_io::error::{Error, Result};

/// The kernels, compiled by tools/ptx.py.
pub(super) const PTX: &str = include_str!("kernels/kernels.ptx");
/// Least compute capability of the PTX.
const OLDEST: (i32, i32) = (7, 0);
const ALIGN: usize = 16;
/// Cached graphs: steps differ by sub-batches and by occasional optimiser work.
const MOST_GRAPHS: usize = 8;

struct Cuda {
    name: String,
    module: CUmodule,
    kernels: Vec<CUfunction>,
    /// Operations of the current step, and cached graphs; `None` where graphs do not work.
    operations: Option<Vec<Operation>>,
    graphs: Option<Vec<Graph>>,
    memory: Vec<CUdeviceptr>,
    slots: Vec<Slot>,
    /// Streams drop before their context.
    compute: Arc<CudaStream>,
    copies: Arc<CudaStream>,
    context: Arc<CudaContext>,
}

struct Slot {
    host: *mut u8,
    result: *mut f64,
    bytes: usize,
    device: CUdeviceptr,
    /// Recorded after the copy, and after the slot's work.
    sent: CudaEvent,
    done: CudaEvent,
}

/// Opens a GPU by index.
pub(crate) fn open(ordinal: usize) -> Result<Box<dyn Driver>> {
    // SAFETY: the driver's library may be loaded at any time; its initialisers are NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err(Error::input("no NVIDIA driver is installed"));
    }
    let fault = |error| Error::input(format!("the NVIDIA driver says: {}", said(error)));
    let count = CudaContext::device_count().map_err(fault)?;
    if ordinal >= count.max(0) as usize {
        return Err(Error::input(match count {
            0 => "there is no NVIDIA GPU".to_string(),
            _ => format!("there is no GPU {ordinal}: the last is {}", count - 1),
        }));
    }
    let context = CudaContext::new(ordinal).map_err(fault)?;
    let name = context.name().map_err(fault)?;
    let attribute = |which| context.attribute(which).map_err(fault);
    let major = attribute(CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(CUdevice_attribute_enum::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    if (major, minor) < OLDEST {
        let reason = format!("{name} is of compute capability {major}.{minor}, older than 7.0");
        return Err(Error::input(reason));
    }
    match Cuda::new(context, format!("{name} (GPU {ordinal})")) {
        Ok(cuda) => Ok(Box::new(cuda)),
        Err(DriverError(CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION)) => Err(Error::input(format!(
            "the driver of {name} is too old: patzer needs that of CUDA 12.4 (550) or newer"
        ))),
        Err(error) => Err(fault(error)),
    }
}

fn said(error: DriverError) -> String {
    let text = error.error_string().map(|text| text.to_string_lossy().into_owned());
    text.unwrap_or_else(|_| format!("error {}", error.0 as u32))
}

impl Cuda {
    fn new(context: Arc<CudaContext>, name: String) -> std::result::Result<Cuda, DriverError> {
        let (compute, copies) = (context.new_stream()?, context.new_stream()?);
        let image = CString::new(PTX).map_err(|_| DriverError(CUresult::CUDA_ERROR_INVALID_PTX))?;
        // SAFETY: the image is PTX that ends with a zero.
        let module = unsafe { result::module::load_data(image.as_ptr().cast()) }?;
        let mut cuda = Cuda {
            name,
            module,
            kernels: Vec::new(),
            operations: None,
            graphs: Some(Vec::new()),
            memory: Vec::new(),
            slots: Vec::new(),
            compute,
            copies,
            context,
        };
        for kernel in Kernel::ALL {
            let name =
                CString::new(kernel.name()).map_err(|_| DriverError(CUresult::CUDA_ERROR_NOT_FOUND))?;
            // SAFETY: the module was loaded above and lives as long as `cuda`.
            cuda.kernels.push(unsafe { result::module::get_function(module, name) }?);
        }
        Ok(cuda)
    }

    fn fault(&self, error: DriverError) -> Error {
        match error.0 {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => Error::input(format!(
                "{}: out of memory; another program may be using it, or a smaller hidden layer would fit",
                self.name
            )),
            _ => Error::internal(format!("{}: {}", self.name, said(error))),
        }
    }

    fn submit(&self, operations: &Operation) -> std::result::Result<(), DriverError> {
        let queue = self.compute.cu_stream();
        match operations {
            // SAFETY: callers name bytes of what was allocated.
            Operation::Clear(at, bytes) => unsafe { result::memset_d8_async(at.0, 0, *bytes, queue) },
            Operation::Launch(kernel, grid, block, params) => {
                let mut pointers = graph::pointers(params);
                let function = self.kernels[*kernel as usize];
                let grid = (grid[0], grid[1], grid[2]);
                // SAFETY: tests compare the parameters with the PTX; the driver reads them before it returns.
                unsafe { result::launch_kernel(function, grid, (*block, 1, 1), 0, queue, &mut pointers) }
            }
        }
    }

    fn submit_or_record(&mut self, what: Operation) -> Result<()> {
        match &mut self.operations {
            Some(operations) => operations.push(what),
            None => self.submit(&what).map_err(|e| self.fault(e))?,
        }
        Ok(())
    }

    /// New or updated graph of a step; `None` where graphs do not work.
    fn graph(&mut self, operations: &[Operation]) -> Option<&Graph> {
        let (kernels, context) = (&self.kernels, self.context.cu_ctx());
        let graphs = self.graphs.as_mut()?;
        let known = graphs.iter().position(|graph| graph.fits(operations));
        let done = match known {
            Some(at) => graphs[at].set(operations, kernels).map(|()| at),
            // Too many kinds of steps: launch their kernels one by one.
            None if graphs.len() == MOST_GRAPHS => return None,
            None => Graph::new(operations.to_vec(), kernels, context).map(|graph| {
                graphs.push(graph);
                graphs.len() - 1
            }),
        };
        if done.is_err() {
            self.graphs = None;
        }
        self.graphs.as_ref()?.get(done.ok()?)
    }

    fn new_slot(&mut self, bytes: usize) -> std::result::Result<(), DriverError> {
        // SAFETY: freed in `drop`, after the device is done. Records, written in order, suit write-combined memory.
        let (host, result, device) = unsafe {
            let host: *mut u8 = result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_WRITECOMBINED)?.cast();
            // Fresh pages hold anything.
            std::ptr::write_bytes(host, 0, bytes);
            let result: *mut f64 = result::malloc_host(size_of::<f64>(), 0)?.cast();
            result.write(0.0);
            (host, result, result::malloc_sync(bytes)?)
        };
        let (sent, done) = (self.context.new_event(None)?, self.context.new_event(None)?);
        self.slots.push(Slot { host, result, bytes, device, sent, done });
        Ok(())
    }
}

impl Driver for Cuda {
    fn name(&self) -> &str {
        &self.name
    }

    fn free(&mut self) -> Result<u64> {
        self.context.mem_get_info().map(|(free, _)| free as u64).map_err(|e| self.fault(e))
    }

    fn allocate(&mut self, bytes: usize) -> Result<Address> {
        // SAFETY: freed in `drop`.
        let at = unsafe { result::malloc_sync(bytes.max(1).next_multiple_of(ALIGN)) };
        let at = at.map_err(|e| self.fault(e))?;
        self.memory.push(at);
        Ok(Address(at))
    }

    fn clear(&mut self, at: Address, bytes: usize) -> Result<()> {
        self.submit_or_record(Operation::Clear(at, bytes))
    }

    fn write(&mut self, to: Address, bytes: &[u8]) -> Result<()> {
        // SAFETY: callers name bytes of what was allocated; the copy is waited for, so that the bytes may go.
        unsafe { result::memcpy_htod_async(to.0, bytes, self.compute.cu_stream()) }
            .and_then(|()| self.compute.synchronize())
            .map_err(|e| self.fault(e))
    }

    fn read(&mut self, from: Address, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: as above.
        unsafe { result::memcpy_dtoh_async(bytes, from.0, self.compute.cu_stream()) }
            .and_then(|()| self.compute.synchronize())
            .map_err(|e| self.fault(e))
    }

    fn launch(&mut self, kernel: Kernel, grid: [u32; 3], block: u32, params: &[Param]) -> Result<()> {
        self.submit_or_record(Operation::Launch(kernel, grid, block, params.to_vec()))
    }

    fn begin(&mut self) {
        self.operations = Some(Vec::new());
    }

    fn end(&mut self) -> Result<()> {
        let operations = self.operations.take().unwrap_or_default();
        let queue = self.compute.cu_stream();
        let launched = match self.graph(&operations) {
            Some(graph) => graph.launch(queue),
            None => operations.iter().try_for_each(|operations| self.submit(operations)),
        };
        launched.map_err(|e| self.fault(e))
    }

    fn open(&mut self, bytes: usize) -> Result<()> {
        for _ in 0..super::SLOTS {
            self.new_slot(bytes).map_err(|e| self.fault(e))?;
        }
        Ok(())
    }

    fn slot(&mut self, slot: usize) -> Result<&mut [u8]> {
        let slot = &self.slots[slot];
        slot.done.synchronize().map_err(|e| self.fault(e))?;
        // SAFETY: that many bytes, all written once; the device is done with them, and this borrows the driver.
        Ok(unsafe { std::slice::from_raw_parts_mut(slot.host, slot.bytes) })
    }

    fn send(&mut self, slot: usize, bytes: usize) -> Result<Address> {
        let slot = &self.slots[slot];
        // SAFETY: at most the bytes of the slot; they are next touched in `slot`, which waits for what is recorded
        // below.
        let source = unsafe { std::slice::from_raw_parts(slot.host, bytes.min(slot.bytes)) };
        let copy = || {
            // SAFETY: as above.
            unsafe { result::memcpy_htod_async(slot.device, source, self.copies.cu_stream()) }?;
            slot.sent.record(&self.copies)?;
            self.compute.wait(&slot.sent)
        };
        copy().map_err(|e| self.fault(e))?;
        Ok(Address(slot.device))
    }

    fn finish(&mut self, slot: usize, result: Address) -> Result<()> {
        let slot = &self.slots[slot];
        let copy = || {
            // SAFETY: page-locked memory of one number, read only after `done`.
            let to = unsafe { std::slice::from_raw_parts_mut(slot.result, 1) };
            // SAFETY: the address is one of a number on the device.
            unsafe { result::memcpy_dtoh_async(to, result.0, self.compute.cu_stream()) }?;
            slot.done.record(&self.compute)
        };
        copy().map_err(|e| self.fault(e))
    }

    fn result(&mut self, slot: usize) -> Result<f64> {
        let slot = &self.slots[slot];
        slot.done.synchronize().map_err(|e| self.fault(e))?;
        // SAFETY: one number, written by the copy that was waited for.
        Ok(unsafe { slot.result.read_volatile() })
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        let _ = self.copies.synchronize();
        let _ = self.compute.synchronize();
        self.graphs = None;
        // SAFETY: all of it was allocated here, and the device is done with it.
        unsafe {
            for slot in &self.slots {
                let _ = result::free_host(slot.host.cast());
                let _ = result::free_host(slot.result.cast());
                let _ = result::free_sync(slot.device);
            }
            for at in &self.memory {
                let _ = result::free_sync(*at);
            }
            let _ = result::module::unload(self.module);
        }
    }
}
