package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/workloads/v1beta1"
)

// Of the upper five pods one is updated and two are on their way.
func TestStatefulSetView(t *testing.T) {
	w := newWorld(t, &statefulSets)
	w.setImage(newImage)
	w.object.(*v1beta1.StatefulSet).Spec.UpdateStrategy.RollingUpdate.Partition = ptr.To[int32](5)
	for _, name := range []string{"web-7", "web-8", "web-9"} {
		*w.pod(name) = *w.newPod(name)
	}
	w.pod("web-9").Status.ContainerStatuses[0].RestartCount = 1
	startUpdate(w.pod("web-8"))
	startUpdate(w.pod("web-7"))
	checkTable(t, w.observe(), `
[#~~.......] 3 of 10 updated, 8 ready, 2 unavailable

POD    REVISION    IMAGE         STATE     RESTARTS  NODE    IP        WAITS
web-0  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  a Partition
web-1  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  a Partition
web-2  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  a Partition
web-3  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  a Partition
web-4  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  a Partition
web-5  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  b MaxUnavailable
web-6  6d66f88b99  busybox:1.36  ready            0  node-0  10.0.0.1  b MaxUnavailable
web-7  84c6954764  busybox:1.37  updating         0  node-0  10.0.0.1
web-8  84c6954764  busybox:1.37  updating         0  node-0  10.0.0.1
web-9  84c6954764  busybox:1.37  ready            1  node-0  10.0.0.1

a  5 pods wait: partition 5: pods with a lower ordinal stay at their revision
b  2 pods wait: maxUnavailable 2: as many pods before this one are not available
`)
}

// broken is a StatefulSet whose two highest pods have got a bad image.
func broken(t *testing.T) *world {
	w := newWorld(t, &statefulSets)
	w.setImage(badImage)
	for _, name := range []string{"web-8", "web-9"} {
		*w.pod(name) = *w.newPod(name)
		breakDown(w.pod(name), "ImagePullBackOff")
	}
	return w
}

// The pods that a bad image has reached hold all others back.
func TestStatefulSetViewOfBadImage(t *testing.T) {
	s := broken(t).observe()
	checkTable(t, s, `
[!!........] 2 of 10 updated, 8 ready, 2 unavailable

POD    REVISION    IMAGE         STATE             RESTARTS  NODE    IP        WAITS
web-0  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-1  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-2  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-3  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-4  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-5  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-6  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-7  6d66f88b99  busybox:1.36  ready                    0  node-0  10.0.0.1  a MaxUnavailable
web-8  77444fc87b  busybox:bad   ImagePullBackOff         0  node-0  10.0.0.1
web-9  77444fc87b  busybox:bad   ImagePullBackOff         0  node-0  10.0.0.1

a  8 pods wait: maxUnavailable 2: as many pods before this one are not available
`)
	if (s.todo != todo{}) {
		t.Errorf("got %+v, want nothing to do until somebody repairs it", s.todo)
	}
}

// Rolled back, the broken pods move and no other does.
func TestStatefulSetRollsBack(t *testing.T) {
	w := broken(t)
	w.parts().template.Spec.Containers[0].Image = oldImage
	if got, want := w.observe().todo, (todo{change: 2}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// More than ten pods of a StatefulSet stand in the order of their ordinals.
func TestOrderOfRows(t *testing.T) {
	w := newWorld(t, &statefulSets)
	w.pods = append(w.pods, w.newPod("web-11"), w.newPod("web-10"))
	var got []string
	for _, row := range newView(w.observe()).Rows[8:] {
		got = append(got, row.Pod)
	}
	if diff := cmp.Diff([]string{"web-8", "web-9", "web-10", "web-11"}, got); diff != "" {
		t.Errorf("last rows (-want +got):\n%s", diff)
	}
}
