// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// newNativeWorld is a world whose native sidecars count as containers.
func newNativeWorld(t testing.TB, spec string) *world {
	t.Helper()
	w := newWorld(t, "{}")
	w.features = natives
	w.edit(spec)
	return w
}

// become replaces the containers.
func (w *world) become(spec string) {
	w.t.Helper()
	w.set = w.set.DeepCopy()
	w.set.Spec.Containers, w.set.Spec.InitContainers = nil, nil
	w.edit(spec)
}

const withProxy = `{containers: [{name: log, image: "log:v1"}], initContainers: [{name: setup, image: "setup:v1"}, {name: proxy, image: "proxy:v1", restartPolicy: Always}]}`

// edited is the spec with some of its texts replaced.
func edited(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(withProxy) }

// A new image of a native sidecar is an update in place like any other. (SCS-40)
func TestNativeUpdate(t *testing.T) {
	w := newNativeWorld(t, withProxy)
	w.add("a", "b")
	w.settle()
	w.become(edited("proxy:v1", "proxy:v2"))
	plan := w.sync()
	if got := strings.Join(updates(plan), " "); got != "a" || waits(plan, "b") != "MaxUnavailable" || len(plan.NotUpgradable) > 0 {
		t.Fatalf("a native sidecar: %s", plan)
	}
	writes, err := plan.Patch[0].Patch.Writes(plan.Patch[0].Pod)
	if err != nil || len(writes) != 1 || !strings.Contains(string(writes[0].Data), `"spec":{"initContainers":[{"name":"proxy","image":"proxy:v2"}]}`) {
		t.Errorf("writes %+v, %v", writes, err)
	}
	if plan = w.sync(); len(updates(plan)) > 0 || plan.Rollout.Unavailable != 1 || plan.Status.UpdatedPods != 1 || plan.Status.ReadyPods != 1 {
		t.Errorf("the kubelet has still to act: %+v, %s", plan.Status, plan)
	}
	w.kubelet("a")
	if plan = w.sync(); strings.Join(updates(plan), " ") != "b" {
		t.Errorf("and has: %s", plan)
	}
	w.settle()
	if s := w.set.Status; s.MatchedPods != 2 || s.UpdatedPods != 2 || s.UpdatedReadyPods != 2 {
		t.Errorf("status %+v", s)
	}
	w.become(edited("proxy:v1", "proxy:v3", "log:v1", "log:v2"))
	if plan = w.sync(); len(updates(plan)) != 1 || len(plan.Patch[0].Patch.Images) != 2 {
		t.Errorf("a container, too: %s", plan)
	}
}

// One that is not ready, before its startup probe succeeds for example, holds its place; and the way back is open. (SCS-40, SCS-8)
func TestNativeThatFails(t *testing.T) {
	for _, image := range []string{"proxy:crash", "proxy:broken"} {
		w := newNativeWorld(t, withProxy)
		w.add("a", "b")
		w.settle()
		w.become(edited("proxy:v1", image))
		w.settle()
		if plan := w.plan(); waits(plan, "b") != "MaxUnavailable" || plan.Rollout.Unavailable != 1 {
			t.Errorf("%s: %s", image, plan)
		}
		w.become(edited("proxy:v1", "proxy:v2"))
		w.settle()
		if s := w.set.Status; s.UpdatedReadyPods != 2 {
			t.Errorf("after %s, repaired: %+v", image, s)
		}
	}
}

// A SidecarSet of native sidecars alone is updated, too. (SCS-40)
func TestNativesAlone(t *testing.T) {
	w := newNativeWorld(t, `{initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always}]}`)
	w.add("a")
	w.settle()
	w.edit(`{initContainers: [{name: proxy, image: "proxy:v2", restartPolicy: Always}]}`)
	w.settle()
	if s := w.set.Status; s.UpdatedReadyPods != 1 || w.pod("a").Spec.InitContainers[0].Image != "proxy:v2" {
		t.Errorf("status %+v, containers %+v", s, w.pod("a").Spec.InitContainers)
	}
}

// Whatever else changes of init containers, pods cannot be updated in place, until it is changed back. (SCS-40)
func TestNativeNotUpgradable(t *testing.T) {
	const since = " changed since revision demo-"
	for _, test := range []struct{ name, spec, want string }{
		{"an init container that ends", edited("setup:v1", "setup:v2"), "initContainers[setup].image was setup:v1 before, and has run"},
		{"beside a native sidecar", edited("setup:v1", "setup:v2", "proxy:v1", "proxy:v2"), "initContainers[setup].image was setup:v1 before, and has run"},
		{"a field", edited(`image: "proxy:v1"`, `image: "proxy:v2", args: [x]`), "initContainers[proxy].args" + since},
		{"a field of one that ends", edited(`image: "setup:v1"`, `image: "setup:v1", args: [x]`), "initContainers[setup].args" + since},
		{"a field of a container, too", edited(`"log:v1"`, `"log:v1", args: [x]`, `"proxy:v1"`, `"proxy:v1", args: [x]`), "containers[log].args, initContainers[proxy].args" + since},
		{"a native sidecar more", edited("initContainers: [", `initContainers: [{name: more, image: m, restartPolicy: Always}, `), "initContainers[more]" + since},
		{"none any more", edited(`{name: proxy, image: "proxy:v1", restartPolicy: Always}`, ""), "initContainers[proxy]" + since},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newNativeWorld(t, withProxy)
			w.add("a", "b")
			w.settle()
			w.become(test.spec)
			plan := w.sync()
			if len(plan.Patch) > 0 || len(plan.NotUpgradable) != 2 || !strings.HasPrefix(plan.NotUpgradable[0].Reason.Message, test.want) {
				t.Fatalf("want %s: %s\n%v", test.want, plan, plan.NotUpgradable)
			}
			if s := w.set.Status; s.MatchedPods != 2 || s.UpdatedPods != 0 || s.ReadyPods != 2 {
				t.Errorf("status %+v", s)
			}
			w.become(edited("proxy:v1", "proxy:v2"))
			w.settle()
			if s := w.set.Status; s.UpdatedReadyPods != 2 || conditionOf(&s, notUpgradable) != nil {
				t.Errorf("changed back: %+v", s)
			}
		})
	}
}

// What an init container ran is known by the history, or else by the pod, in which others may have replaced the image. (SCS-40)
func TestImageThatHasRun(t *testing.T) {
	w := newNativeWorld(t, withProxy)
	w.sync()
	w.add("a")
	w.pods[0].Spec.InitContainers[1].Image = "mirror/setup:v1" // they are sorted by name
	w.become(edited("proxy:v1", "proxy:v2"))
	if plan := w.plan(); len(updates(plan)) != 1 {
		t.Errorf("of a mirror: %s", plan)
	}
	w.revisions = nil
	if plan := w.plan(); waits(plan, "a") != "NotUpgradable" {
		t.Errorf("without history: %s", plan)
	}
}

// Records tell whose a native sidecar is. (SCS-28, SCS-40)
func TestForeignNative(t *testing.T) {
	w := newNativeWorld(t, `{initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always}]}`)
	other := w.set.DeepCopy()
	other.Name = "another"
	w.addAs(w.bare("a"), other, w.set)
	records, err := injection.Records(w.pods[0], v1alpha1.SidecarSetHashAnnotation)
	if err != nil {
		t.Fatal(err)
	}
	if _, is := records["demo"]; is {
		t.Fatalf("records %v", records)
	}
	records["demo"] = w.features.NewRecord(w.set, records["another"].SidecarSetHash, w.now)
	annotatePod(w.pods[0], v1alpha1.SidecarSetHashAnnotation, records)
	if plan := w.plan(); waits(plan, "a") != "Incomplete" || !strings.Contains(plan.NotInjected[0].Reason.Message, "proxy is that of SidecarSet another") {
		t.Errorf("%s", plan)
	}
}

// Hot containers are emptied once the native sidecars serve, too. (SCS-18, SCS-40)
func TestNativeBesideHot(t *testing.T) {
	const spec = `{containers: [{name: mesh, image: "mesh:v1", upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:1"}}], initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always}]}`
	w := newNativeWorld(t, spec)
	w.add("a")
	w.settle()
	w.become(strings.Replace(spec, "mesh:v1", "mesh:v2", 1))
	w.sync()
	w.kubelet()
	for _, ready := range []bool{false, true} {
		pod := w.pod("a")
		pod.Status.InitContainerStatuses[0].Ready = ready
		judgeReady(pod, w.now)
		plan := w.plan()
		if (len(resets(plan)) == 1) != ready || (waits(plan, "a") == "HotUpgrade") == ready {
			t.Errorf("ready %t: %s, waits %q", ready, plan, waits(plan, "a"))
		}
	}
}
