/* SPDX-License-Identifier: Apache-2.0 */
/* The prefixes in cupti_abi.h against the headers of the CUDA toolkit, where it is installed: this
 * compiles, or it does not. */
#include <cupti.h>

#include "inject/cupti/cupti_abi.h"

/* As they are called in each header: what is read of them is the same. */
#if CUPTI_API_VERSION >= 24
typedef CUpti_ActivityDevice5 device_record;
typedef CUpti_ActivityOverhead3 overhead_record;
typedef CUpti_ActivityGraphTrace2 graph_record;
#elif CUPTI_API_VERSION >= 21
typedef CUpti_ActivityDevice4 device_record;
typedef CUpti_ActivityOverhead overhead_record;
typedef CUpti_ActivityGraphTrace2 graph_record;
#else
typedef CUpti_ActivityDevice4 device_record;
typedef CUpti_ActivityOverhead overhead_record;
typedef CUpti_ActivityGraphTrace graph_record;
#endif

#define SAME(ours, field, theirs, member)                                                          \
    _Static_assert(offsetof(struct ours, field) == offsetof(theirs, member) &&                     \
                       sizeof(((struct ours *)0)->field) >= sizeof(((theirs *)0)->member),         \
                   "as in the toolkit's header")
#define SAME_NUMBER(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), "as in the header")
#define SAME_WORK(ours, theirs)                                                                    \
    SAME(ours, start, theirs, start);                                                              \
    SAME(ours, end, theirs, end);                                                                  \
    SAME(ours, device, theirs, deviceId);                                                          \
    SAME(ours, context, theirs, contextId);                                                        \
    SAME(ours, stream, theirs, streamId);                                                          \
    SAME(ours, correlation, theirs, correlationId);                                                \
    SAME(ours, graph_node, theirs, graphNodeId);                                                   \
    SAME(ours, graph, theirs, graphId)

SAME_WORK(cupti_kernel, CUpti_ActivityKernel9);
SAME_WORK(cupti_memcpy, CUpti_ActivityMemcpy5);
SAME_WORK(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);
SAME_WORK(cupti_memset, CUpti_ActivityMemset4);
SAME(cupti_kernel, registers, CUpti_ActivityKernel9, registersPerThread);
SAME(cupti_kernel, grid, CUpti_ActivityKernel9, gridX);
SAME(cupti_kernel, block, CUpti_ActivityKernel9, blockX);
SAME(cupti_kernel, static_shared, CUpti_ActivityKernel9, staticSharedMemory);
SAME(cupti_kernel, dynamic_shared, CUpti_ActivityKernel9, dynamicSharedMemory);
SAME(cupti_kernel, local_per_thread, CUpti_ActivityKernel9, localMemoryPerThread);
SAME(cupti_kernel, name, CUpti_ActivityKernel9, name);
SAME(cupti_memcpy, copy_kind, CUpti_ActivityMemcpy5, copyKind);
SAME(cupti_memcpy, from_kind, CUpti_ActivityMemcpy5, srcKind);
SAME(cupti_memcpy, to_kind, CUpti_ActivityMemcpy5, dstKind);
SAME(cupti_memcpy, bytes, CUpti_ActivityMemcpy5, bytes);
SAME(cupti_memcpy_peer, bytes, CUpti_ActivityMemcpyPtoP4, bytes);
SAME(cupti_memcpy_peer, from_device, CUpti_ActivityMemcpyPtoP4, srcDeviceId);
SAME(cupti_memcpy_peer, to_device, CUpti_ActivityMemcpyPtoP4, dstDeviceId);
SAME(cupti_memset, value, CUpti_ActivityMemset4, value);
SAME(cupti_memset, bytes, CUpti_ActivityMemset4, bytes);
SAME(cupti_memset, memory_kind, CUpti_ActivityMemset4, memoryKind);
SAME(cupti_call, call, CUpti_ActivityAPI, cbid);
SAME(cupti_call, start, CUpti_ActivityAPI, start);
SAME(cupti_call, end, CUpti_ActivityAPI, end);
SAME(cupti_call, thread, CUpti_ActivityAPI, threadId);
SAME(cupti_call, correlation, CUpti_ActivityAPI, correlationId);
SAME(cupti_call, result, CUpti_ActivityAPI, returnValue);
SAME(cupti_call_site, site, CUpti_CallbackData, callbackSite);
SAME(cupti_call_site, function, CUpti_CallbackData, functionName);

SAME(cupti_device, bandwidth_kb, device_record, globalMemoryBandwidth);
SAME(cupti_device, memory_bytes, device_record, globalMemorySize);
SAME(cupti_device, clock_khz, device_record, coreClockRate);
SAME(cupti_device, multiprocessors, device_record, numMultiprocessors);
SAME(cupti_device, major, device_record, computeCapabilityMajor);
SAME(cupti_device, minor, device_record, computeCapabilityMinor);
SAME(cupti_device, id, device_record, id);
SAME(cupti_device, uuid, device_record, uuid);
SAME(cupti_device, name, device_record, name);

SAME(cupti_overhead, what, overhead_record, overheadKind);
SAME(cupti_overhead, object, overhead_record, objectKind);
SAME(cupti_overhead, thread, overhead_record, objectId.pt.threadId);
SAME(cupti_overhead, start, overhead_record, start);
SAME(cupti_overhead, end, overhead_record, end);

SAME(cupti_graph_trace, correlation, graph_record, correlationId);
SAME(cupti_graph_trace, start, graph_record, start);
SAME(cupti_graph_trace, end, graph_record, end);
SAME(cupti_graph_trace, device, graph_record, deviceId);
SAME(cupti_graph_trace, graph, graph_record, graphId);
SAME(cupti_graph_trace, context, graph_record, contextId);
SAME(cupti_graph_trace, stream, graph_record, streamId);
SAME(cupti_state, result, CUpti_StateData, notification.result);
SAME(cupti_state, message, CUpti_StateData, notification.message);
SAME(cupti_resource, about, CUpti_ResourceData, resourceDescriptor);
SAME(cupti_node, node, CUpti_GraphData, node);
SAME(cupti_node, original, CUpti_GraphData, originalNode);
SAME_NUMBER(CUPTI_GRAPH_TRACE, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
SAME_NUMBER(CUPTI_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
SAME_NUMBER(CUPTI_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
SAME_NUMBER(CUPTI_DOMAIN_STATE, CUPTI_CB_DOMAIN_STATE);
SAME_NUMBER(CUPTI_STATE_FATAL, CUPTI_CBID_STATE_FATAL_ERROR);
SAME_NUMBER(CUPTI_STATE_WARNING, CUPTI_CBID_STATE_WARNING);
SAME_NUMBER(CUPTI_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
SAME_NUMBER(CUPTI_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
SAME_NUMBER(CUPTI_OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
SAME_NUMBER(CUPTI_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
SAME_NUMBER(CUPTI_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
SAME_NUMBER(CUPTI_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
SAME_NUMBER(CUPTI_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
SAME_NUMBER(CUPTI_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
SAME_NUMBER(CUPTI_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
SAME_NUMBER(CUPTI_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
SAME_NUMBER(CUPTI_DOMAIN_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
SAME_NUMBER(CUPTI_DOMAIN_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
SAME_NUMBER(CUPTI_SITE_ENTER, CUPTI_API_ENTER);
SAME_NUMBER(CUPTI_SITE_EXIT, CUPTI_API_EXIT);
SAME_NUMBER(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
SAME_NUMBER(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
SAME_NUMBER(CUPTI_ATTRIBUTE_DEVICE_POOL_LIMIT, CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT);
SAME_NUMBER(CUPTI_ATTRIBUTE_ZEROED_BUFFERS, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
SAME_NUMBER(CUPTI_NO_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
SAME_NUMBER(CUPTI_LIMIT, CUPTI_ERROR_MAX_LIMIT_REACHED);
SAME_NUMBER(CUPTI_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
SAME_NUMBER(CUPTI_INVALID_KIND, CUPTI_ERROR_INVALID_KIND);
SAME_NUMBER(CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_NOT_PRIVILEGED, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
SAME_NUMBER(CUPTI_TAKEN, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
SAME_NUMBER(CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);

#if CUPTI_API_VERSION >= 130000
SAME_WORK(cupti_kernel, CUpti_ActivityKernel10);
SAME_WORK(cupti_memcpy, CUpti_ActivityMemcpy6);
SAME(cupti_kernel, name, CUpti_ActivityKernel10, name);
SAME(cupti_subscriber, size, CUpti_SubscriberParams, structSize);
SAME(cupti_subscriber, name, CUpti_SubscriberParams, subscriberName);
SAME(cupti_subscriber, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME(cupti_subscriber, holder_size, CUpti_SubscriberParams, oldSubscriberSize);
SAME_NUMBER(CUPTI_ATTRIBUTE_PER_THREAD_BUFFERS, CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER);
SAME_NUMBER(CUPTI_HOLDER_BYTES, CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
#endif

int main(void)
{
    return 0;
}
