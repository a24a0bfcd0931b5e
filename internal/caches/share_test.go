// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
)

type kindOfCrowd[T any] interface {
	*T
	metav1.Object
	DeepCopy() *T
}

func owned(name, namespace string, owners ...metav1.OwnerReference) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: owners}}
}

func marshal(t *rapid.T, object any) []byte {
	m, ok := object.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return nil // no protobuf
	}
	raw, err := m.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// testSharing: what shares parts equals what does not, byte for byte, and a copy of one is its own.
func testSharing[T any, P kindOfCrowd[T]](t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := random{rand.New(rand.NewSource(rapid.Int64().Draw(t, "seed"))), rapid.IntRange(2, 4).Draw(t, "one of how many fields is set")}
		var objects, copies []P
		var raws [][]byte
		s := &sharer[T, P]{}
		if rapid.Bool().Draw(t, "with resources") {
			if pods, ok := any(s).(*sharer[corev1.Pod, *corev1.Pod]); ok {
				pods.within = shareResources
			}
		}
		first := P(new(T))
		r.fill(reflect.ValueOf(first).Elem())
		for i := range 3 {
			object := P(first.DeepCopy())
			if i > 0 {
				r.scarce = []int{1000000, 100, 10, 1}[rapid.IntRange(0, 3).Draw(t, "changes")]
				r.change(reflect.ValueOf(object).Elem())
			}
			copies = append(copies, object.DeepCopy())
			raws = append(raws, marshal(t, copies[i])) // by which all quantities of the copy know how they are written
			s.share(object, 0)
			objects = append(objects, object)
		}
		verify := func(when string) {
			for i, object := range objects {
				if !bytes.Equal(raws[i], marshal(t, object)) {
					t.Fatalf("%s, object %d has other bytes", when, i)
				}
				if !reflect.DeepEqual(object, copies[i]) {
					t.Fatalf("%s, object %d has changed: %+v became %+v", when, i, copies[i], object)
				}
			}
		}
		verify("after sharing")
		r.scarce = 1
		for _, object := range objects {
			r.change(reflect.ValueOf(object.DeepCopy()).Elem())
		}
		verify("after changes of copies")
		group, models := s.groups.Load().find(0)
		if group == nil || models == nil {
			return // all are being deleted
		}
		for i := range models.objects {
			if model := models.objects[i].Value(); model != nil {
				if found := slack(reflect.ValueOf(model).Elem()); found != "" {
					t.Fatalf("an append to %s writes to what objects share", found)
				}
			}
		}
		runtime.KeepAlive(objects)
	})
}

func TestSharing(t *testing.T) {
	t.Run("Pod", testSharing[corev1.Pod])
	t.Run("PersistentVolumeClaim", testSharing[corev1.PersistentVolumeClaim])
	t.Run("Node", testSharing[corev1.Node])
	t.Run("NodeImage", testSharing[distributionv1alpha1.NodeImage])
}

// TestShared: the largest equal parts of two pods are one.
func TestShared(t *testing.T) {
	pods := sharer[corev1.Pod, *corev1.Pod]{within: shareResources}
	get := func(i int, edit func(*corev1.Pod)) *corev1.Pod {
		pod := decoded(t, crowdPod(t, i, 1), &corev1.Pod{})
		edit(pod)
		pods.share(pod, groupOfPod(pod))
		return pod
	}
	first := get(1, func(*corev1.Pod) {})
	second := get(2, func(pod *corev1.Pod) { pod.Spec.Volumes[0].Name = "another" })
	a, b := first.Spec, second.Spec
	same := map[string]bool{
		"containers":           &a.Containers[0] == &b.Containers[0],
		"source of a volume":   a.Volumes[0].ConfigMap == b.Volumes[0].ConfigMap,
		"tolerations":          &a.Tolerations[0] == &b.Tolerations[0],
		"annotations":          pointerOf(first.Annotations) == pointerOf(second.Annotations),
		"owners":               &first.OwnerReferences[0] == &second.OwnerReferences[0],
		"a label":              unsafe.StringData(first.Labels["team"]) == unsafe.StringData(second.Labels["team"]),
		"resources, reported":  first.Status.ContainerStatuses[0].Resources == second.Status.ContainerStatuses[0].Resources,
		"resources and report": pointerOf(a.Containers[1].Resources.Limits) == pointerOf(first.Status.ContainerStatuses[1].Resources.Limits),
		"type of a condition":  unsafe.StringData(string(first.Status.Conditions[0].Type)) == unsafe.StringData(string(second.Status.Conditions[0].Type)),
	}
	for what, is := range same {
		if !is {
			t.Errorf("the %s are there twice", what)
		}
	}
	if &a.Volumes[0] == &b.Volumes[0] || second.Spec.Volumes[0].Name != "another" {
		t.Error("volumes that differ are one")
	}
}

func pointerOf[K comparable, V any](m map[K]V) unsafe.Pointer {
	return reflect.ValueOf(m).UnsafePointer()
}

// TestSharedGoes: what pods share goes with the last of them, and so do their groups.
func TestSharedGoes(t *testing.T) {
	const groups = 2000
	pods := &sharer[corev1.Pod, *corev1.Pod]{}
	held := map[int]*corev1.Pod{}
	add := func(i int) weak.Pointer[corev1.Container] {
		pod := owned(fmt.Sprint(i), "x", metav1.OwnerReference{UID: uid(2, i/2)})
		pod.UID, pod.Spec.Containers = uid(1, i), []corev1.Container{{Name: fmt.Sprint("c", i/2), Image: "nginx"}}
		pods.share(pod, groupOfPod(pod))
		held[i] = pod
		return weak.Make(&pod.Spec.Containers[0])
	}
	var containers []weak.Pointer[corev1.Container]
	for i := range 2 * groups {
		containers = append(containers, add(i))
		if i%2 == 1 && containers[i] != containers[i-1] {
			t.Fatalf("pod %d shares no containers", i)
		}
	}
	left := func() (n int) {
		runtime.GC()
		for _, c := range containers {
			if c.Value() != nil {
				n++
			}
		}
		return n
	}
	if n := left(); n != 2*groups {
		t.Errorf("of %d pods %d have containers", 2*groups, n)
	}
	for i := range groups {
		delete(held, 2*i)
	}
	if n := left(); n != 2*groups {
		t.Errorf("of %d pods %d have containers, of which half have no other user", 2*groups, n)
	}
	known := 0
	for _, pod := range held {
		if place, m := pods.groups.Load().find(groupOfPod(pod)); place != nil && m.any() != nil {
			known++
		}
	}
	if known < groups/2 { // some have lost their place to others, by a hash that differs in each process
		t.Errorf("of %d groups %d have the other pod as a model", groups, known)
	}
	clear(held)
	if n := left(); n != 0 {
		t.Errorf("%d containers are left without a pod", n)
	}
	for i := range 3 * len(*pods.groups.Load()) { // others come, all of one group
		pod := owned(fmt.Sprint("new-", i), "y")
		pods.share(pod, groupOfPod(pod))
	}
	if n, used := len(*pods.groups.Load()), pods.used.Load(); n != minTable || used > 1 {
		t.Errorf("the table has %d places and %d groups, want %d and 1", n, used, minTable)
	}
	runtime.KeepAlive(held)
}

// TestUnlikeObjects: many that are unlike each other leave nothing behind.
func TestUnlikeObjects(t *testing.T) {
	pods := &sharer[corev1.Pod, *corev1.Pod]{}
	most := 0
	for i := range 50000 {
		pod := owned("p", "x", metav1.OwnerReference{UID: uid(2, i)})
		pods.share(pod, groupOfPod(pod))
		if i%1000 == 0 {
			runtime.GC()
		}
		most = max(most, len(*pods.groups.Load()))
	}
	if most > 1<<14 {
		t.Errorf("the table has had %d places for 1,000 pods at a time", most)
	}
}

// TestSharingAtTheSameTime: several informers have the same and other objects.
func TestSharingAtTheSameTime(t *testing.T) {
	pods := &sharer[corev1.Pod, *corev1.Pod]{within: shareResources}
	var raws [40][]byte
	for i := range raws {
		raw, err := crowdPod(t, i, i/4).Marshal()
		if err != nil {
			t.Fatal(err)
		}
		raws[i] = raw
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			held := map[int]*corev1.Pod{}
			for i := range 800 {
				n := i % len(raws)
				pod, want := &corev1.Pod{}, &corev1.Pod{}
				if err := errors.Join(pod.Unmarshal(raws[n]), want.Unmarshal(raws[n])); err != nil {
					t.Error(err)
				}
				pods.share(pod, groupOfPod(pod))
				if !reflect.DeepEqual(want, pod) {
					t.Error(cmp.Diff(want, pod))
				}
				if i%50 == 0 {
					clear(held)
				}
				held[n] = pod
			}
		})
	}
	all.Wait()
}

// TestDeletedPodsAreNoModels: those that go stay no longer than the others of their group.
func TestDeletedPodsAreNoModels(t *testing.T) {
	pods := &sharer[corev1.Pod, *corev1.Pod]{}
	pod := owned("p", "x")
	pod.DeletionTimestamp = &metav1.Time{}
	pods.share(pod, 1)
	if _, m := pods.groups.Load().find(1); m != nil {
		t.Error("a pod that is being deleted is a model")
	}
	pod = owned("p", "x")
	pods.share(pod, 1)
	if _, m := pods.groups.Load().find(1); m == nil || m.any() != pod {
		t.Error("a pod is no model")
	}
}
