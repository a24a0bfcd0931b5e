package main

import "testing"

// Of ten pods one is updated, one is on its way, and one of the old ones cannot start.
func TestCloneSetView(t *testing.T) {
	w := newWorld(t, &cloneSets)
	w.setImage(newImage)
	*w.pod("web-0") = *w.newPod("web-0")
	w.pod("web-0").Status.ContainerStatuses[0].RestartCount = 1
	*w.pod("web-1") = *w.newPod("web-1")
	startUpdate(w.pod("web-1"))
	breakDown(w.pod("web-9"), "CrashLoopBackOff")
	checkTable(t, w.observe(), `
[#~!.......] 2 of 10 updated, 8 ready, 2 unavailable

POD    REVISION    IMAGE         STATE             RESTARTS  NODE    IP        WAITS
web-0  76f4b46c47  busybox:1.37  ready                    1  node-0  10.0.0.1
web-1  76f4b46c47  busybox:1.37  updating                 0  node-0  10.0.0.1
web-2  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-3  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-4  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-5  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-6  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-7  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-8  854fb79cb4  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-9  854fb79cb4  busybox:1.36  CrashLoopBackOff         0  node-0  10.0.0.1

a  7 pods wait: maxUnavailable 2: 1 pod at the update revision is unavailable already and 1 pod is updated now
`)
}
