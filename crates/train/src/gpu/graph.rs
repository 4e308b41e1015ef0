//! A step as one piece of work for NVIDIA's driver.
//!
//! In: what a step asks of the device, in order. Out: the same as a graph that is launched whole. Step after step asks for
//! the same kernels with a few other numbers, so a graph is made once and only what differs is set; to launch some twenty
//! kernels by themselves takes the host longer than a device needs for a small batch.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::{self, CUcontext, CUfunction, CUgraph, CUgraphExec, CUgraphNode, CUstream};

use super::driver::{Address, Kernel, Param};

type Result<T> = std::result::Result<T, DriverError>;

/// What is asked of the device.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// To make bytes zero.
    Clear(Address, usize),
    /// To run a kernel: its grid, the threads of a block, its parameters.
    Launch(Kernel, [u32; 3], u32, Vec<Param>),
}

impl Asked {
    /// Whether one can be set to be the other.
    fn is_like(&self, other: &Asked) -> bool {
        match (self, other) {
            (Asked::Launch(own, ..), Asked::Launch(other, ..)) => own == other,
            _ => self == other,
        }
    }
}

/// The addresses of parameters, as the driver takes them.
pub fn pointers(params: &[Param]) -> Vec<*mut c_void> {
    params.iter().map(|param| param.words().as_ptr().cast_mut().cast()).collect()
}

/// A graph: each node waits for the one before.
pub struct Graph {
    asked: Vec<Asked>,
    nodes: Vec<CUgraphNode>,
    /// Nodes are known by the graph that the other was made of.
    graph: CUgraph,
    ready: CUgraphExec,
}

impl Graph {
    /// Makes a graph. `kernels` are the functions by [`Kernel`], all of the context.
    pub fn new(asked: Vec<Asked>, kernels: &[CUfunction], context: CUcontext) -> Result<Graph> {
        let (mut graph, ready) = (null_mut(), null_mut());
        // SAFETY: the driver writes the graph's handle.
        unsafe { sys::cuGraphCreate(&mut graph, 0) }.result()?;
        // From here on it is destroyed whatever happens.
        let mut made = Graph { nodes: Vec::with_capacity(asked.len()), asked, graph, ready };
        for asked in &made.asked {
            let before = made.nodes.last().map_or(std::ptr::null(), |node| node as *const CUgraphNode);
            let (mut node, count) = (null_mut(), made.nodes.len().min(1));
            match asked {
                Asked::Clear(at, bytes) => {
                    let (size, element) = if bytes.is_multiple_of(4) { (bytes / 4, 4) } else { (*bytes, 1) };
                    let clear = sys::CUDA_MEMSET_NODE_PARAMS {
                        dst: at.0,
                        pitch: 0,
                        value: 0,
                        elementSize: element,
                        width: size,
                        height: 1,
                    };
                    // SAFETY: callers name bytes of what was allocated; the node before is of this graph.
                    unsafe { sys::cuGraphAddMemsetNode(&mut node, graph, before, count, &clear, context) }
                }
                Asked::Launch(..) => with_launch(asked, kernels, |launch| {
                    // SAFETY: the parameters are the kernel's; the driver copies them before it returns.
                    unsafe { sys::cuGraphAddKernelNode_v2(&mut node, graph, before, count, launch) }
                }),
            }
            .result()?;
            made.nodes.push(node);
        }
        // SAFETY: the graph was made above.
        unsafe { sys::cuGraphInstantiateWithFlags(&mut made.ready, graph, 0) }.result()?;
        Ok(made)
    }

    /// Whether it can be set to do this.
    pub fn fits(&self, asked: &[Asked]) -> bool {
        self.asked.len() == asked.len() && self.asked.iter().zip(asked).all(|(own, other)| own.is_like(other))
    }

    /// Sets it to do this the next time; what was launched before stays as it was.
    pub fn set(&mut self, asked: &[Asked], kernels: &[CUfunction]) -> Result<()> {
        for ((node, own), new) in self.nodes.iter().zip(&mut self.asked).zip(asked) {
            if own != new {
                // SAFETY: the node is of the graph that this one was made of, and runs the same kernel.
                let set =
                    |launch: &_| unsafe { sys::cuGraphExecKernelNodeSetParams_v2(self.ready, *node, launch) };
                with_launch(new, kernels, set).result()?;
                own.clone_from(new);
            }
        }
        Ok(())
    }

    /// Starts all of it.
    pub fn launch(&self, queue: CUstream) -> Result<()> {
        // SAFETY: both are alive.
        unsafe { sys::cuGraphLaunch(self.ready, queue) }.result()
    }
}

/// Does something with a launch in the driver's form.
fn with_launch(
    asked: &Asked,
    kernels: &[CUfunction],
    act: impl FnOnce(&sys::CUDA_KERNEL_NODE_PARAMS) -> sys::CUresult,
) -> sys::CUresult {
    let Asked::Launch(kernel, grid, block, params) = asked else { return sys::CUresult::CUDA_SUCCESS };
    let mut params = pointers(params);
    act(&sys::CUDA_KERNEL_NODE_PARAMS {
        func: kernels[*kernel as usize],
        gridDimX: grid[0],
        gridDimY: grid[1],
        gridDimZ: grid[2],
        blockDimX: *block,
        blockDimY: 1,
        blockDimZ: 1,
        sharedMemBytes: 0,
        kernelParams: params.as_mut_ptr(),
        extra: null_mut(),
        kern: null_mut(),
        ctx: null_mut(),
    })
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: both were made here, and nobody has them after this. There is nobody to tell of a fault.
        unsafe {
            if !self.ready.is_null() {
                let _ = sys::cuGraphExecDestroy(self.ready);
            }
            let _ = sys::cuGraphDestroy(self.graph);
        }
    }
}
