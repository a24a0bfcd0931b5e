// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/inplace"
	"github.com/podwright/podwright/inplace/rollout"
)

const probed = `startupProbe: {periodSeconds: 10, initialDelaySeconds: 90, exec: {command: [up]}}`

// The next pod waits until the kubelet has asked the startup probe of a container that the update has restarted, native or not.
// Then it is the kubelet's word that counts. (SCS-8, SCS-40, IP-45)
func TestStartupProbe(t *testing.T) {
	for _, container := range []string{
		`{containers: [{name: proxy, image: "proxy:v1", PROBE}]}`,
		`{containers: [{name: log, image: "log:v1"}], initContainers: [{name: proxy, image: "proxy:v1", restartPolicy: Always, PROBE}]}`,
	} {
		spec := strings.Replace(container, "PROBE", probed, 1)
		w := newNativeWorld(t, spec)
		w.add("a", "b")
		w.settle()
		w.become(strings.Replace(spec, "proxy:v1", "proxy:v2", 1))
		w.sync()
		w.now = noon.Add(time.Second)
		w.kubelet("a")
		plan := w.sync()
		if len(updates(plan)) > 0 || waits(plan, "b") != "MaxUnavailable" || plan.Rollout.UpdatedReady != 0 || plan.RequeueAfter != 90*time.Second {
			t.Fatalf("%s: restarted: %s, again in %s", container, plan, plan.RequeueAfter)
		}
		w.now = w.now.Add(89 * time.Second)
		s := w.snapshot()
		s.HeldSince = map[rollout.Subject]time.Time{}
		for _, held := range plan.Held {
			s.HeldSince[held.Subject] = noon
		}
		plan = NewPlan(s)
		if c := conditionOf(plan.Status, "HeldUp"); c == nil || !strings.Contains(c.Message, "shop/a: "+inplace.StartingWords("proxy")) {
			t.Errorf("%s: after more than a minute: %+v", container, c)
		}
		w.now = w.now.Add(time.Second)
		if plan = w.plan(); strings.Join(updates(plan), " ") != "b" {
			t.Errorf("%s: the delay has passed: %s", container, plan)
		}
		for _, statuses := range [][]corev1.ContainerStatus{w.pod("a").Status.ContainerStatuses, w.pod("a").Status.InitContainerStatuses} {
			for i := range statuses {
				if s := &statuses[i]; s.Name == "proxy" {
					s.Started, s.Ready = ptr.To(false), false
				}
			}
		}
		judgeReady(w.pod("a"), w.now)
		if plan = w.plan(); len(updates(plan)) > 0 || waits(plan, "b") != "MaxUnavailable" {
			t.Errorf("%s: the kubelet says that it has not started: %s", container, plan)
		}
	}
}

// The next image need not wait: the pod does not serve. (SCS-8, IP-45)
func TestStartupProbeOfABadImage(t *testing.T) {
	spec := strings.Replace(`{containers: [{name: proxy, image: "proxy:v1", PROBE}]}`, "PROBE", probed, 1)
	w := newWorld(t, spec)
	w.add("a", "b")
	w.settle()
	for _, image := range []string{"proxy:v2", "proxy:v3"} {
		w.edit(strings.Replace(spec, "proxy:v1", image, 1))
		if plan := w.sync(); strings.Join(updates(plan), " ") != "a" {
			t.Fatalf("%s: %s", image, plan)
		}
		w.now = w.now.Add(time.Second)
		w.kubelet("a")
	}
}

// The hot container that an upgrade has left behind works on until the kubelet has asked the startup probe of the other. (SCS-18, IP-45)
func TestStartupProbeOfAHotContainer(t *testing.T) {
	spec := strings.Replace(`{containers: [{name: proxy, image: "proxy:v1", PROBE, upgradeStrategy: {upgradeType: HotUpgrade, hotUpgradeEmptyImage: "empty:v1"}}]}`, "PROBE", probed, 1)
	w := newWorld(t, spec)
	w.add("a")
	w.settle()
	w.edit(strings.Replace(spec, "proxy:v1", "proxy:v2", 1))
	w.sync()
	w.now = noon.Add(time.Second)
	w.kubelet()
	plan := w.sync()
	if len(resets(plan)) > 0 || !waitsFor(plan, inplace.StartingWords("proxy-2")) {
		t.Fatalf("restarted: %s", plan)
	}
	w.now = w.now.Add(90 * time.Second)
	if plan = w.sync(); strings.Join(resets(plan), " ") != "a" {
		t.Errorf("the delay has passed: %s", plan)
	}
}

// waitsFor tells whether a pod waits for what some words say.
func waitsFor(plan *Plan, words string) bool {
	for _, w := range plan.Waiting {
		if w.Reason.Rule == ruleHotUpgrade && strings.HasPrefix(w.Reason.Message, words) {
			return true
		}
	}
	return false
}
