// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

const logs = `{containers: [{name: log, image: "log:v1"}]}`

// many has pods of which so many are updated to log:v2, and so many of the updated ones are ready.
func many(t testing.TB, strategy string, matched, updated, ready int) *world {
	t.Helper()
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	old := w.pods[0]
	w.image("log", "log:v2")
	w.sync()
	w.kubelet()
	w.settle()
	fresh := w.pods[0]
	w.edit("{updateStrategy: {" + strategy + "}}")
	w.pods = nil
	for i := range matched {
		pod := old.DeepCopy()
		if i < updated {
			pod = fresh.DeepCopy()
		}
		pod.Name, pod.UID = fmt.Sprintf("p%04d", i), types.UID(fmt.Sprint("uid-of-p", i))
		w.pods = append(w.pods, pod)
		if i >= ready && i < updated {
			w.down(pod.Name, "log")
		}
	}
	return w
}

// How many pods an update takes. (SCS-7, SCS-8)
func TestHowMany(t *testing.T) {
	for _, test := range []struct {
		matched, updated, ready int
		strategy                string
		want                    int
	}{
		{1000, 800, 760, "maxUnavailable: 100", 60},
		{1000, 800, 760, "maxUnavailable: 100, partition: 180", 20},
		{1000, 800, 760, "maxUnavailable: 100, partition: 100", 60},
		{1000, 800, 760, "maxUnavailable: 100, partition: 18%", 20},
		{1000, 800, 760, "maxUnavailable: 100, partition: 10%", 60},
		{1000, 300, 250, "maxUnavailable: 5%", 0},
		{6, 0, 0, "maxUnavailable: 5%", 1},
		{10, 0, 0, "maxUnavailable: 5%", 1},
		{10, 0, 0, "maxUnavailable: 11%", 2},
		{10, 0, 0, "maxUnavailable: 0%", 0},
		{10, 0, 0, "maxUnavailable: 0", 0},
		{10, 0, 0, "", 1},
		{10, 5, 5, "maxUnavailable: 100%", 5},
		{10, 0, 0, "maxUnavailable: 100%, partition: 19%", 9},
		{10, 0, 0, "maxUnavailable: 100%, partition: 100%", 0},
		{10, 8, 8, "maxUnavailable: 100%, partition: 3", 0},
		{10, 8, 8, "maxUnavailable: 100%, partition: 1", 1},
		{10, 10, 10, "maxUnavailable: 100%", 0},
		{10, 0, 0, "maxUnavailable: 100%, paused: true", 0},
		{10, 0, 0, "maxUnavailable: 100%, type: NotUpdate", 0},
	} {
		t.Run(fmt.Sprintf("%d %d %d %s", test.matched, test.updated, test.ready, test.strategy), func(t *testing.T) {
			plan := many(t, test.strategy, test.matched, test.updated, test.ready).plan()
			if got := len(updates(plan)); got != test.want || len(plan.Patch)+len(plan.Waiting) != test.matched-test.updated {
				t.Errorf("%d pods are updated and %d wait, want %d of %d: %+v", got, len(plan.Waiting), test.want, test.matched-test.updated, plan.Rollout)
			}
		})
	}
}

// Pods that do not serve are updated beyond maxUnavailable. (SCS-8)
func TestUnavailablePods(t *testing.T) {
	for _, test := range []struct {
		name, strategy string
		act            func(*world)
		want           string
	}{
		{"no pod may be unavailable, but one is", "maxUnavailable: 0", func(w *world) { w.down("p0002", "main") }, "p0002"},
		{"one that is down costs nothing", "maxUnavailable: 1", func(w *world) { w.down("p0002", "main") }, "p0002 p0000"},
		{"one that an update before has stopped keeps its place", "maxUnavailable: 1", func(w *world) {
			w.sync()
			w.down("p0000", "log")
			w.image("log", "log:v3")
		}, "p0000"},
		{"one that an update before will stop keeps its place", "maxUnavailable: 1", func(w *world) {
			w.sync()
			w.image("log", "log:v3")
		}, ""},
		{"one that an update before has broken keeps its place", "maxUnavailable: 1",
			func(w *world) { w.image("log", "log:crash"); w.sync(); w.kubelet(); w.image("log", "log:v2") }, "p0000"},
		{"as does one that its workload updates meanwhile", "maxUnavailable: 1", func(w *world) {
			w.image("log", "log:crash")
			w.sync()
			w.kubelet()
			beginWorkloadUpdate(w, noon)
			w.image("log", "log:v2")
		}, ""},
		{"not one that the workload alone has stopped", "maxUnavailable: 1",
			func(w *world) { w.sync(); w.kubelet(); beginWorkloadUpdate(w, noon); w.image("log", "log:v3") }, "p0001"},
		{"one whose image cannot be pulled is freed by the next", "maxUnavailable: 1", func(w *world) {
			w.image("log", "log:broken")
			w.sync()
			w.kubelet()
			w.image("log", "log:v3")
		}, "p0000"},
		{"a pod that is deleted in the middle of its update leaves its place", "maxUnavailable: 1", func(w *world) {
			w.sync()
			w.pods = w.pods[1:]
		}, "p0001"},
		{"as does one that is being deleted", "maxUnavailable: 1", func(w *world) {
			w.sync()
			w.pods[0].DeletionTimestamp = &metav1.Time{Time: noon}
		}, "p0001"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := many(t, test.strategy, 4, 0, 0)
			test.act(w)
			plan := w.plan()
			if got := strings.Join(updates(plan), " "); got != test.want {
				t.Errorf("updated %q, want %q:\n%s", got, test.want, plan)
			}
		})
	}
}

// Which pods are the SidecarSet's, and which of them count as ready. (SCS-1 to SCS-4, SCS-21)
func TestStatus(t *testing.T) {
	for _, test := range []struct {
		name, spec string
		act        func(*world)
		want       string // matched updated ready updatedReady
	}{
		{"injected", logs, func(*world) {}, "1 1 1 1"},
		{"injection paused", logs, func(w *world) { w.edit("{injectionStrategy: {paused: true}}") }, "1 1 1 1"},
		{"another image", logs, func(w *world) { w.image("log", "log:v2") }, "1 0 1 0"},
		{"being updated", logs, func(w *world) { w.image("log", "log:v2"); w.sync() }, "1 1 0 0"},
		{"updated", logs, func(w *world) { w.image("log", "log:v2"); w.sync(); w.kubelet() }, "1 1 1 1"},
		{"ended", logs, func(w *world) { w.pods[0].Status.Phase = corev1.PodFailed }, "0 0 0 0"},
		{"succeeded", logs, func(w *world) { w.pods[0].Status.Phase = corev1.PodSucceeded }, "0 0 0 0"},
		{"pending", logs, func(w *world) { w.pods[0].Status.Phase = corev1.PodPending }, "1 1 0 0"},
		{"being deleted", logs, func(w *world) { w.pods[0].DeletionTimestamp = &metav1.Time{Time: noon} }, "0 0 0 0"},
		{"other labels", logs, func(w *world) { w.pods[0].Labels = nil }, "0 0 0 0"},
		{"another namespace", logs, func(w *world) { w.edit("{namespace: other}") }, "0 0 0 0"},
		{"its namespace", logs, func(w *world) { w.edit("{namespace: shop}") }, "1 1 1 1"},
		{"nobody knows the namespace", logs, func(w *world) { w.edit("{namespaceSelector: {matchLabels: {team: a}}}") }, "0 0 0 0"},
		{"labels of its namespace", logs, func(w *world) {
			w.edit("{namespaceSelector: {matchLabels: {team: a}}}")
			w.namespaces = map[string]*corev1.Namespace{"shop": {ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"team": "a"}}}}
		}, "1 1 1 1"},
		{"not on the list", logs, func(w *world) { annotate(w, v1alpha1.SidecarSetInjectedListAnnotation, "a-demo,demo-b") }, "0 0 0 0"},
		{"one of several on the list", logs, func(w *world) { annotate(w, v1alpha1.SidecarSetInjectedListAnnotation, "a,demo,z") }, "1 1 1 1"},
		{"no list, but a record", logs, func(w *world) { delete(w.pods[0].Annotations, v1alpha1.SidecarSetInjectedListAnnotation) }, "1 1 1 1"},
		{"neither", logs, func(w *world) { w.pods[0].Annotations = nil }, "0 0 0 0"},
		{"a hash as before 0.5", logs, func(w *world) {
			hashes, _ := injection.HashesOf(w.set)
			annotate(w, v1alpha1.SidecarSetHashAnnotation, `{"demo":"`+hashes.Containers+`"}`)
		}, "1 1 1 1"},
		{"records in another order", logs, func(w *world) {
			hashes, _ := injection.HashesOf(w.set)
			annotate(w, v1alpha1.SidecarSetHashAnnotation, `{"demo": {"sidecarSetName": "demo", "hash": "`+hashes.Containers+`"}}`)
		}, "1 1 1 1"},
		{"the hash of another SidecarSet", logs, func(w *world) {
			hashes, _ := injection.HashesOf(w.set)
			annotate(w, v1alpha1.SidecarSetHashAnnotation, `{"other": {"hash":"`+hashes.Containers+`","sidecarSetName":"other"}}`)
		}, "1 0 1 0"},
		{"a container is missing", logs, func(w *world) { w.pods[0].Spec.Containers = w.pods[0].Spec.Containers[1:] }, "0 0 0 0"},
		{"a hot container is missing", mesh, func(w *world) { w.pods[0].Spec.Containers = w.pods[0].Spec.Containers[1:] }, "0 0 0 0"},
		{"no entry of the one that works", mesh, func(w *world) {
			annotate(w, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, `{"other":"other-1"}`)
		}, "0 0 0 0"},
		{"an entry that cannot be read", mesh, func(w *world) {
			annotate(w, v1alpha1.SidecarSetWorkingHotUpgradeContainerAnnotation, `[`)
		}, "0 0 0 0"},
		{"both hot containers run something", mesh, func(w *world) {
			w.pods[0].Spec.Containers[1].Image = "mesh:v0"
			annotate(w, v1alpha1.SidecarSetVersionAnnotationPrefix+"mesh-2", "99")
		}, "1 1 0 0"},
		{"the empty image is another one now", mesh, func(w *world) {
			w.edit(`{containers: [{name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "mesh:void"}}]}`)
		}, "1 0 1 0"},
		{"down", logs, func(w *world) { w.down("a", "main") }, "1 1 0 0"},
		{"a status is missing", logs, func(w *world) { w.pods[0].Status.ContainerStatuses = w.pods[0].Status.ContainerStatuses[1:] }, "1 1 0 0"},
		{"a status of another container is missing", logs, func(w *world) { w.pods[0].Status.ContainerStatuses = w.pods[0].Status.ContainerStatuses[:1] }, "1 1 0 0"},
		{"its workload updates it", logs, func(w *world) {
			w.pods[0].Status.Conditions = append(w.pods[0].Status.Conditions, corev1.PodCondition{Type: inplacev1alpha1.InPlaceUpdateReady, Status: corev1.ConditionFalse})
		}, "1 1 0 0"},
		{"only init containers", `{initContainers: [{name: init, image: "init:v1"}]}`, func(*world) {}, "1 0 1 0"},
		{"a digest from a mirror", logs, func(w *world) {
			w.image("log", "docker.io/log@sha256:"+strings.Repeat("a", 64))
			w.sync()
			w.kubelet()
			for i := range w.pods[0].Status.ContainerStatuses {
				if s := &w.pods[0].Status.ContainerStatuses[i]; s.Name == "log" {
					s.Image, s.ImageID = "sha256:abc", "mirror.example.com/log@sha256:"+strings.Repeat("a", 64)
				}
			}
		}, "1 1 1 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t, test.spec)
			w.add("a")
			test.act(w)
			plan := w.plan()
			r := plan.Rollout
			if got := fmt.Sprint(r.Matched, r.Updated, r.Ready, r.UpdatedReady); got != test.want {
				t.Errorf("counts %s, want %s\n%s", got, test.want, plan)
			}
			w.apply(&Plan{Status: plan.Status})
			s := w.set.Status
			if got := fmt.Sprint(s.MatchedPods, s.UpdatedPods, s.ReadyPods, s.UpdatedReadyPods); got != test.want || s.LatestRevision != plan.Revisions.Update.Name {
				t.Errorf("status %s of %s, want %s", got, s.LatestRevision, test.want)
			}
		})
	}
}

func annotate(w *world, key, value string) { w.pods[0].Annotations[key] = value }

// What is written to a pod. (SCS-11 to SCS-13)
func TestUpdateWrites(t *testing.T) {
	w := newWorld(t, `{containers: [{name: log, image: "log:v1"}], patchPodMetadata: [
  {annotations: {kept: new, absent: new}}, {annotations: {over: new}, patchPolicy: Overwrite}, {annotations: {json: '{"b":2}'}, patchPolicy: MergePatchJson}]}`)
	other := newWorld(t, `{containers: [{name: agent, image: "agent:v1"}]}`).set
	other.Name = "other"
	w.addAs(w.bare("a"), w.set, other)
	w.settle()
	pod := w.pod("a")
	for key, value := range map[string]string{"kept": "old", "over": "old", "json": `{"a":1}`} {
		pod.Annotations[key] = value
	}
	delete(pod.Annotations, "absent")
	before := pod.DeepCopy()
	w.image("log", "log:v2")
	w.now = noon.Add(time.Minute)
	plan := w.sync()
	if len(plan.Patch) != 1 || !plan.Patch[0].Patch.IfUnchanged {
		t.Fatal(plan)
	}
	if writes, err := plan.Patch[0].Patch.Writes(before); err != nil || len(writes) != 1 {
		t.Errorf("%d writes, error %v, want one", len(writes), err)
	}
	pod = w.pod("a")
	changed := map[string]string{}
	for key, value := range pod.Annotations {
		if before.Annotations[key] != value {
			changed[key] = value
		}
	}
	hashes, _ := injection.HashesOf(w.set)
	agent, _ := injection.HashesOf(other)
	want := map[string]string{
		"absent": "new", "over": "new", "json": `{"a":1,"b":2}`,
		v1alpha1.SidecarSetHashAnnotation: fmt.Sprintf(`{"demo":{"updateTimestamp":"2026-01-01T12:01:00Z","hash":"%s","sidecarSetName":"demo","sidecarList":["log"],"controllerRevision":"%s"},`+
			`"other":{"updateTimestamp":"2026-01-01T12:00:00Z","hash":"%s","sidecarSetName":"other","sidecarList":["agent"]}}`,
			hashes.Containers, plan.Revisions.Update.Name, agent.Containers),
		v1alpha1.SidecarSetInPlaceUpdateStateAnnotation: fmt.Sprintf(`{"demo":{"revision":"%s","updateTimestamp":"2026-01-01T12:01:00Z","lastContainerStatuses":{"log":{"imageID":"id-of-log:v1"}},`+
			`"lastContainers":{"log":{"containerID":"%s","images":["log:v1"]}}}}`, hashes.Containers, before.Status.ContainerStatuses[0].ContainerID),
	}
	if diff := cmp.Diff(want, changed); diff != "" {
		t.Errorf("annotations (-want +got):\n%s", diff)
	}
	if imageOf(pod, "log") != "log:v2" || imageOf(pod, "agent") != "agent:v1" || imageOf(pod, "main") != "main:v1" {
		t.Error(pod.Spec.Containers)
	}

	w.kubelet()
	w.image("log", "log:v3")
	w.now = noon.Add(time.Hour)
	w.sync()
	var states map[string]v1alpha1.SidecarSetInPlaceUpdateState
	if err := json.Unmarshal([]byte(w.pod("a").Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]), &states); err != nil {
		t.Error(err)
	}
	if s := states["demo"]; s.Revision != hashes.Containers || !s.UpdateTimestamp.Equal(&metav1.Time{Time: noon.Add(time.Minute)}) ||
		s.LastContainerStatuses["log"].ImageID != "id-of-log:v2" || !slices.Equal(s.LastContainers["log"].Images, []string{"log:v2"}) {
		t.Errorf("the state of the second update: %+v", s)
	}
}

// Images that are right already, and records that cannot be read. (SCS-11, SCS-12)
func TestUpdateOfRecordsOnly(t *testing.T) {
	w := newWorld(t, logs)
	w.add("a")
	w.settle()
	w.image("log", "log:v2")
	w.pods[0].Spec.Containers[0].Image = "log:v2" // by hand
	w.kubelet()
	annotate(w, v1alpha1.SidecarSetHashAnnotation, "{")
	delete(w.pods[0].Annotations, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation)
	plan := w.sync()
	if len(updates(plan)) != 1 || len(plan.Patch[0].Patch.Images)+len(plan.Patch[0].Patch.Conditions) > 0 || w.pods[0].Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation] != "" {
		t.Error(plan)
	}
	if records, err := injection.Records(w.pods[0], v1alpha1.SidecarSetHashAnnotation); err != nil || len(records) != 1 {
		t.Errorf("records %v, error %v", records, err)
	}
	if plan := w.sync(); plan.Rollout.UpdatedReady != 1 {
		t.Error(plan)
	}

	for _, broken := range []string{"{", `{"other":`} {
		w.image("log", w.set.Spec.Containers[0].Image+"x")
		annotate(w, v1alpha1.SidecarSetInPlaceUpdateStateAnnotation, broken)
		w.sync()
		if text := w.pods[0].Annotations[v1alpha1.SidecarSetInPlaceUpdateStateAnnotation]; !strings.HasPrefix(text, `{"demo":`) {
			t.Errorf("the state is %s", text)
		}
		w.kubelet()
	}
	delete(w.pods[0].Annotations, v1alpha1.SidecarSetInjectedListAnnotation)
	w.image("log", "log:v9")
	w.sync()
	if got := w.pods[0].Annotations[v1alpha1.SidecarSetInjectedListAnnotation]; got != "demo" {
		t.Errorf("the list is %q", got)
	}
	// One that is there has those, too, that no record is of: with init containers alone.
	annotate(w, v1alpha1.SidecarSetInjectedListAnnotation, "demo,init")
	w.image("log", "log:v10")
	w.sync()
	if got := w.pods[0].Annotations[v1alpha1.SidecarSetInjectedListAnnotation]; got != "demo,init" {
		t.Errorf("the list is %q", got)
	}
}

// What pods wait for. (SCS-5 to SCS-8, SCS-15, SCS-20)
func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name, strategy string
		act            func(*world)
		want           string // of p0000 and p0001
	}{
		{"paused", "paused: true", nil, "Paused, Paused"},
		{"not updated", "type: NotUpdate", nil, "NotUpdate, NotUpdate"},
		{"partition", "partition: 1", nil, ", Partition"},
		{"maxUnavailable", "", nil, ", MaxUnavailable"},
		{"selector", "selector: {matchLabels: {canary: 'true'}}", func(w *world) { w.pods[1].Labels["canary"] = "true" }, "NotSelected, "},
		{"an earlier update, which the kubelet has not begun", "maxUnavailable: 2", func(w *world) { w.sync(); w.image("log", "log:v3") }, "InPlaceUpdating, InPlaceUpdating"},
		{"an annotation that cannot be merged", "maxUnavailable: 1", func(w *world) {
			w.edit(`{patchPodMetadata: [{annotations: {json: '{"b":2}'}, patchPolicy: MergePatchJson}]}`)
			w.pods[0].Annotations["json"] = "["
		}, ", MaxUnavailable"},
		{"a record that cannot be read", "maxUnavailable: 1", func(w *world) { annotate(w, v1alpha1.SidecarSetHashWithoutImageAnnotation, "[") }, "Unreadable, "},
		{"its workload", "maxUnavailable: 1", func(w *world) { beginWorkloadUpdate(w, noon) }, "WorkloadUpdating, "},
		{"its workload for long", "maxUnavailable: 1", func(w *world) { beginWorkloadUpdate(w, noon.Add(-5*time.Minute)) }, ", "},
		{"its workload, by a clock that is far off", "maxUnavailable: 1", func(w *world) { beginWorkloadUpdate(w, noon.Add(time.Hour)) }, ", "},
		{"its workload, which is done", "maxUnavailable: 2", func(w *world) {
			beginWorkloadUpdate(w, noon)
			w.kubelet()
			w.pods[0].Status.Conditions[1].Status = corev1.ConditionTrue
			judgeReady(w.pods[0], noon)
		}, ", "},
		{"its workload, which has not said so", "maxUnavailable: 2", func(w *world) { beginWorkloadUpdate(w, noon); w.kubelet() }, "WorkloadUpdating, "},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := many(t, test.strategy, 2, 0, 0)
			if test.act != nil {
				test.act(w)
			}
			plan := w.plan()
			if got := waits(plan, "p0000") + ", " + waits(plan, "p0001"); got != test.want {
				t.Errorf("%q, want %q:\n%s", got, test.want, plan)
			}
			if wants := strings.Contains(test.want, "Workload"); wants != (plan.RequeueAfter > 0) {
				t.Errorf("another reconcile in %s", plan.RequeueAfter)
			}
			if wants := strings.Contains(test.want, "Unreadable"); wants != (len(plan.Problems) > 0) {
				t.Errorf("problems %v", plan.Problems)
			}
		})
	}
}
