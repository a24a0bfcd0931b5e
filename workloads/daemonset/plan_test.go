// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecluster/scheduler"
)

const (
	rolling    = "spec: {updateStrategy: {rollingUpdate: {"
	two        = rolling + "maxUnavailable: 2}}}"
	inPlace    = rolling + "rollingUpdateType: InPlaceIfPossible, maxUnavailable: 2}}}"
	surge      = rolling + "maxSurge: 2}}}"
	paused     = rolling + "paused: true}}}"
	onDelete   = "spec: {updateStrategy: {type: OnDelete}}"
	zoned      = "spec: {template: {spec: {nodeSelector: {zone: a}}}}"
	unselected = `problem FailedUpdatePod: update pods to revision web-75dfb9448d: spec.selector "app=web" does not match the labels of the template, "app=db"; make them match`
	nowhere    = "problem FailedCreatePod: 1 pods are on no node, and their affinity names none, as that of pod lost: what changes pods as they are created " +
		"must leave them the field metadata.name of their node affinity; as many nodes wait for a pod"
	hook = "spec: {lifecycle: {preDelete: {labelsHandler: {hook: 'true'}}}}"
)

// ready10 has pods count as available after ten seconds.
func ready10(text string) string {
	return strings.Replace(text, "spec: {", "spec: {minReadySeconds: 10, ", 1)
}

func TestPlan(t *testing.T) {
	for _, test := range []struct{ name, set, nodes, want string }{
		{"DS-3: nodes without a pod", onDelete, "n1 n2:v2 n3", "+n1:v2 +n3:v2"},
		{"DS-3: a node that fits no more", zoned, "other:v1 other2:v2 n:v2", "-other:v1 Scale -other2:v2 Scale"},
		{"DS-2: an untolerated NoSchedule keeps new pods away, an untolerated NoExecute all", "{}", "tainted1 tainted2:v2 evicting1 evicting2:v2", "-evicting2:v2 Scale"},
		{"DS-3: orphans are adopted, what matches no more is released", onDelete, "n1:v1+orphan n2:v1+app=db n3:v1+stranger n4:v1", "~n1 Adopt ~n2 Release +n2:v2 +n3:v2 problem FailedUpdatePod: Snapshot.Pods: default/n3-v1-2 left out; want objects of namespace default that name the DaemonSet as an owner, or without a controller"},

		{"DS-4: pods that ended are replaced", "{}", "n1:v2+Failed n2:v2+Succeeded", "-n1:v2 Failed -n2:v2 Failed"},
		{"DS-4: of several pods the oldest stays", "{}", "n1:v2 n1:v2 n1:v2", "-n1:v2 Scale -n1:v2 Scale"},
		{"DS-4: of several pods an available one stays", onDelete, "n1:v1+down n1:v2", "-n1:v1 Scale"},
		{"DS-4: a terminating pod is waited for", "{}", "n1:v2+leaving", ""},
		{"DS-4: one that has ended is not", "{}", "n1:v2+leaving+Failed", "+n1:v2"},
		{"DS-4: a surging update does not wait for a terminating pod", surge, "n1:v1+leaving", "+n1:v2"},

		{"DS-5: new pods have the present template", two, "n1 n2:v1", "-n2:v1 Update +n1:v2"},
		{"DS-5: but not if the partition holds the node back", rolling + "partition: 2, maxUnavailable: 1}}}", "n1 n2:v1 n3:v2", "+n1:v1"},
		{"DS-5: a node whose turn it is gets the present template", rolling + "partition: 1, maxUnavailable: 1}}}", "n1 n2:v1 n3:v2", "+n1:v2"},
		{"DS-5: or where the selector leaves it out", rolling + "selector: {matchLabels: {name: n2}}}}}", "n1 n2:v2", "+n1:v1"},
		{"DS-6: without a partition, pods are not created by and by", "metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: 'true'}}\n" + rolling + "selector: {matchLabels: {name: n2}}}}}", "n1 n2:v2", "+n1:v1"},
		{"DS-5: not with OnDelete", onDelete, "n1 n2:v1", "+n1:v2"},
		{"DS-5: pods that wait for a node that is gone", onDelete, "(n1):v1+pending (n2):v1 n3:v1+pending", "-n1:v1 Scale"},

		{"DS-8: one pod at a time by default", "{}", "n1:v1 n2:v1 n3:v1", "-n3:v1 Update"},
		{"DS-8: none while the selector does not match the template", "spec: {template: {metadata: {labels: {app: db}}}}", "n1:v1 n2:v1", unselected},
		{"DS-8: nor by a second pod", strings.Replace(surge, "spec: {", "spec: {template: {metadata: {labels: {app: db}}}, ", 1), "n1:v1 n2:v1", unselected},
		{"DS-8: a percentage is rounded up", rolling + "maxUnavailable: 30%}}}", "n1:v1 n2:v1 n3:v1 n4:v1", "-n4:v1 Update -n3:v1 Update"},
		{"DS-8: both 0 means one", rolling + "maxUnavailable: 0, maxSurge: 0}}}", "n1:v1 n2:v1", "-n2:v1 Update"},

		{"DS-9: by name, backwards", two, "n1:v1 n2:v1 n3:v1", "-n3:v1 Update -n2:v1 Update"},
		{"DS-9: nodes that are updated already count in the partition first", rolling + "partition: 2}}}", "n1:v1 n2:v2 n3:v1", ""},
		{"DS-9: then the others by name", rolling + "partition: 1}}}", "n1:v1 n2:v2 n3:v1", "-n3:v1 Update"},
		{"DS-9: n1 is updated, n3 is next", rolling + "partition: 1}}}", "n1:v2 n2:v1 n3:v1", "-n3:v1 Update"},
		{"DS-9: only nodes that the selector matches", rolling + "maxUnavailable: 9, partition: 1, selector: {matchLabels: {name: n3}}}}}", "n1:v1 n2:v2 n3:v1 n4:v1", "-n3:v1 Update"},
		{"DS-9: no node matches", rolling + "maxUnavailable: 9, selector: {matchLabels: {name: n9}}}}}", "n1:v1 n2:v2", ""},
		{"DS-9: nodes without a pod come before those of an earlier update", rolling + "partition: 1}}}", "n1 n2:v0+down", "+n1:v2"},
		{"DS-9: partition of all", rolling + "partition: 3}}}", "n1:v1 n2:v1 n3:v1", ""},

		{"DS-V3: a percentage, rounded up", rolling + "partition: 50%, maxUnavailable: 9}}}", "n1:v1 n2:v1 n3:v1", "-n3:v1 Update"},
		{"DS-V3: less than all leaves one to update", rolling + "partition: 99%}}}", "n1:v1 n2:v1 n3:v1", "-n3:v1 Update"},
		{"DS-V3: all are held back", rolling + "partition: 100%}}}", "n1:v1 n2:v1 n3:v1", ""},
		{"DS-10: nodes that the partition leaves out do not count", rolling + "partition: 1}}}", "n1:v1+down n2:v1 n3:v1", "-n3:v1 Update"},
		{"DS-10: nor those that the selector leaves out", rolling + "selector: {matchLabels: {name: n2}}}}}", "n1:v1+down n2:v1", "-n2:v1 Update"},
		{"DS-10: nor those that fit no more", strings.Replace(zoned, "}}}}", "}}}}", 1), "other1:v1+down other2:v1+never n1:v1 n2:v1", "-other1:v1 Scale -other2:v1 Scale -n2:v1 Update"},
		{"DS-10: nor those that take no new pods, whose pods stay", "{}", "tainted1:v1+down tainted2:v1 n1:v1", "-n1:v1 Update"},

		{"DS-11: updated pods that are not available", two, "n1:v1 n2:v1 n3:v2+never", "-n2:v1 Update"},
		{"DS-11: nodes without a pod", two, "n1:v1 n2:v1 n3:v1+leaving", "-n2:v1 Update"},
		{"DS-11: old pods that are not available come first, and count", two, "n1:v1+down n2:v1 n3:v1", "-n1:v1 Update -n3:v1 Update"},
		{"DS-11: all are down: no more than maxUnavailable go", two, "n1:v1+down n2:v1+down n3:v1+down n4:v1+down", "-n4:v1 Update -n3:v1 Update"},
		{"DS-11: all are ready again, and not available yet", ready10(two), "n1:v1+back n2:v1+back n3:v1+back", "-n3:v1 Update -n2:v1 Update"},
		{"DS-11: all are new, and not available yet", ready10(two), "n1:v1+young n2:v1+young n3:v1+young", "-n3:v1 Update -n2:v1 Update"},
		{"DS-11: the second update goes on with the nodes of the first", ready10(two), "n1:v0+young n2:v0+young n3:v1+back n4:v1+back", "-n2:v0 Update -n1:v0 Update"},
		{"DS-11: also where more than these are down", ready10(two), "n1:v0+young n2:v0+young n3:v0+down n4:v0+down n5:v0+down", "-n2:v0 Update -n1:v0 Update"},
		{"DS-11: pods that never became ready are replaced whatever counts", "{}", "n1:v1+pulling n2:v1+never n3:v1 n4:v2+never", "-n2:v1 Update -n1:v1 Update"},
		{"DS-11: one broken updated pod holds up the others", "{}", "n1:v1 n2:v2+down", ""},

		{"DS-11: nodes that cannot be reached come last", "{}", "n1:v1 dead:v1+down n3:v1", "-n3:v1 Update"},
		{"DS-11: and do not count", "{}", "n1:v1 dead1:v1+leaving dead2:v1+down dead3:v2+down n3:v1", "-n3:v1 Update"},
		{"DS-11: while others wait", "{}", "dead1:v1+down n2:v2+down n3:v1", ""},
		{"DS-11: when no others are left they are updated, as many at once", two, "dead1:v1+down dead2:v1+down dead3:v1+leaving n4:v2", "-dead2:v1 Update"},
		{"DS-11: one that adopts a pod is not updated, and counts", two, "dead1:v1+down dead1:v0+orphan dead2:v1+down dead3:v1+down n4:v2", "-dead3:v1 Update ~dead1 Adopt"},
		{"DS-9: nor do they use up what the partition leaves", rolling + "partition: 1}}}", "dead:v1+never n2:v1", "-n2:v1 Update"},
		{"DS-14: nor do they count where pods surge", rolling + "maxSurge: 1}}}", "n1:v1 dead1:v1+down dead2:v1+down dead2:v2+never", "+n1:v2"},

		{"DS-13: in place", inPlace, "n1:v1+gate n2:v1+gate n3:v1+gate", "~n2 UpdateInPlace ~n3 UpdateInPlace"},
		{"DS-13: pods without the gate are recreated", inPlace, "n1:v1+gate n2:v1", "-n2:v1 Update ~n1 UpdateInPlace"},
		{"DS-13, IP-33: not while a SidecarSet updates the pod", inPlace, "n1:v1+gate n2:v1+gate+sidecar", "~n1 UpdateInPlace"},
		{"DS-13: to recreate a pod does not wait", two, "n1:v1+gate n2:v1+gate+sidecar", "-n2:v1 Update -n1:v1 Update"},
		{"DS-13: burstReplicas at once", strings.Replace(inPlace, "spec: {", "spec: {burstReplicas: 1, ", 1), "n1:v1+gate n2:v1+gate", "~n2 UpdateInPlace"},

		{"DS-14: a second pod surges", surge, "n1:v1 n2:v1 n3:v1", "+n3:v2 +n2:v2"},
		{"DS-14: burstReplicas at once", strings.Replace(surge, "spec: {", "spec: {burstReplicas: 1, ", 1), "n1:v1 n2:v1 n3:v1", "+n3:v2"},
		{"DS-14: until it is available", ready10(surge), "n1:v1 n2:v1 n3:v1 n3:v2+young", "+n2:v2"},
		{"DS-14: then the old one goes", surge, "n1:v1 n1:v2", "-n1:v1 Update"},
		{"DS-14: before that, where the old one is not ready, and the new one is", ready10(surge), "n1:v1+down n1:v2+young", "-n1:v1 Update"},
		{"DS-14: or the old one never was", surge, "n1:v1+never n1:v2+never", "-n1:v1 Update"},
		{"DS-14: an old one that served stays beside one that never did", surge, "n1:v1+down n1:v2+never", ""},
		{"DS-14: a node counts until its only pod, an updated one, is available", surge, "n1:v1 n2:v1 n3:v2+never", "+n2:v2"},
		{"DS-14: several of them hold up the update", surge, "n1:v1 n2:v2+down n3:v2+never", ""},
		{"DS-14: old pods that are not available come first, and count", surge, "n1:v1+down n2:v1+down n3:v1+down n4:v1", "+n3:v2 +n2:v2"},
		{"DS-14: a new pod that has ended is replaced by DS-4 alone, and counts", surge, "n1:v1 n1:v2+Failed n2:v1 n3:v1", "-n1:v2 Failed +n3:v2"},
		{"DS-14: no third pod comes beside one that is adopted", surge, "n1:v1 n1:v0+orphan n2:v1", "~n1 Adopt +n2:v2"},
		{"DS-14: beside old pods that never were ready one always comes", surge, "n1:v1+never n2:v1+never n3:v1+never n4:v1", "+n3:v2 +n2:v2 +n1:v2 +n4:v2"},
		{"DS-14: a pod of another update gives way", ready10(surge), "n1:v1 n1:v0+young", "-n1:v0 Scale"},

		{"DS-16: the preDelete hook", hook, "n1:v1+hook n2:v1+hook", "!n2"},
		{"DS-16: a pod that it holds counts as unavailable", hook, "n1:v1+hook n2:v1+hook+preparing", ""},
		{"DS-16: the hook releases it", hook, "n1:v1+hook n2:v1+preparing", "-n2:v1 Scale"},
		{"DS-16: on nodes that fit no more", strings.Replace(hook, "spec: {", "spec: {template: {spec: {nodeSelector: {zone: a}}}, ", 1), "other:v2+hook", "!other"},

		{"DS-21: what admission puts beside the node of a pod does not count", "{}", "n1:v2+beside n2", "+n2:v2"},
		{"DS-21: a pod without a node stands for one that a node waits for", "{}", "n1 n2 n3:v2+nowhere", "+n2:v2 +n3:v2 " + nowhere},
		{"DS-21: also where it surges", rolling + "maxSurge: 1}}}", "n1:v1 n2:v1 n2:v2+nowhere", nowhere},
		{"DS-21: not one that has ended", "{}", "n1 n2:v2+nowhere+Failed", "+n1:v2 +n2:v2"},

		{"DS-8: paused", paused, "n1:v1 n2", "+n2:v2"},
		{"DS-8: OnDelete", onDelete, "n1:v1 n2:v1", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := show(NewPlan(place(t, setOf(t, test.set), test.nodes))); got != test.want {
				t.Errorf("plan\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestProgressive creates pods by and by. (DS-6)
func TestProgressive(t *testing.T) {
	nodes := func(n int, pods string) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("n%02d", i))
		}
		return strings.Join(all, " ") + " " + pods
	}
	for _, test := range []struct {
		name      string
		n         int
		pods      string
		partition int
		want      int
	}{
		{"none yet", 10, "", 9, 1},
		{"the partition is lowered", 10, "n00:v2", 5, 4},
		{"5 created", 12, "n00:v2 n01:v2 n02:v2 n03:v2 n04:v2", 5, 2},
		{"partition 0", 10, "", 0, 10},
		{"enough", 3, "n00:v2", 2, 0},
		{"a pod of a node that takes none counts for no other", 3, "tainted:v2", 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := setOf(t, fmt.Sprintf("metadata: {annotations: {daemonset.kruise.io/progressive-create-pod: 'true'}}\n%spartition: %d}}}", rolling, test.partition))
			plan := NewPlan(place(t, set, nodes(test.n, test.pods)))
			if len(plan.Create) != test.want || test.want > 0 && !strings.HasPrefix(scheduler.NodeOf(plan.Create[0].Pod), "n0") {
				t.Errorf("plan %s, want %d creations", show(plan), test.want)
			}
			for _, c := range plan.Create {
				if c.Pod.Spec.Containers[0].Image != "v2" {
					t.Errorf("%s is of %s", c.Pod.Name, c.Pod.Spec.Containers[0].Image)
				}
			}
		})
	}
}

// TestBurst limits creations and deletions. (DS-7)
func TestBurst(t *testing.T) {
	for burst, want := range map[string]string{"1": "-other1:v2 Scale +n1:v2", "'1%'": "-other1:v2 Scale +n1:v2", "'50%'": "-other1:v2 Scale -other2:v2 Scale +n1:v2 +n2:v2"} {
		set := setOf(t, "spec: {burstReplicas: "+burst+", template: {spec: {nodeSelector: {zone: a}}}}")
		if got := show(NewPlan(place(t, set, "n1 n2 n3 n4 other1:v2 other2:v2 other3:v2"))); got != want {
			t.Errorf("burstReplicas %s: plan %s, want %s", burst, got, want)
		}
	}
}

// TestBackOff replaces a pod that has ended after a while. (DS-4)
func TestBackOff(t *testing.T) {
	s := place(t, newSet(), "n1:v2+Failed n2:v2+Failed")
	s.BackOff = map[string]time.Time{"n1": noon.Add(5 * time.Second), "n2": noon}
	plan := NewPlan(s)
	if got := show(plan); got != "-n2:v2 Failed" || plan.RequeueAfter != 5*time.Second {
		t.Errorf("plan %s, again in %s", got, plan.RequeueAfter)
	}
}

// TestAvailableLater looks again when pods become available. (DS-12, DS-14)
func TestAvailableLater(t *testing.T) {
	for _, text := range []string{two, surge} {
		plan := NewPlan(place(t, setOf(t, ready10(text)), "n1:v1 n1:v2+young"))
		if plan.RequeueAfter != 9*time.Second {
			t.Errorf("again in %s, want 9s", plan.RequeueAfter)
		}
	}
}

// TestNewPod makes the pod of a node. (DS-2, DS-5, DS-7, DS-15)
func TestNewPod(t *testing.T) {
	set := setOf(t, strings.Replace(inPlace, "spec: {", `
metadata: {annotations: {deprecated.daemonset.template.generation: "7"}}
spec: {template: {spec: {hostNetwork: true, tolerations: [{key: mine, operator: Exists}, {key: node.kubernetes.io/not-ready, operator: Exists, effect: NoExecute, tolerationSeconds: 3}]}}, lifecycle: {preDelete: {markPodNotReady: true}}, `, 1))
	s := place(t, set, "n1 n2")
	plan := NewPlan(s)
	pod := plan.Create[0].Pod
	if pod.GenerateName != "web-" || !strings.HasPrefix(pod.Name, "web-") || pod.Name == plan.Create[1].Pod.Name {
		t.Errorf("names %s and %s", pod.Name, plan.Create[1].Pod.Name)
	}
	if pod.Labels["controller-revision-hash"] != plan.Status.DaemonSetHash || pod.Labels["pod-template-generation"] != "7" || pod.Labels["app"] != "web" {
		t.Errorf("labels %v", pod.Labels)
	}
	var keys []string
	for _, toleration := range pod.Spec.Tolerations {
		keys = append(keys, fmt.Sprint(strings.TrimPrefix(toleration.Key, "node.kubernetes.io/"), ":", toleration.Effect))
		if toleration.TolerationSeconds != nil {
			t.Errorf("%s is tolerated for %d s", toleration.Key, *toleration.TolerationSeconds)
		}
	}
	if got, want := strings.Join(keys, " "), "mine: not-ready:NoExecute unreachable:NoExecute disk-pressure:NoSchedule memory-pressure:NoSchedule pid-pressure:NoSchedule unschedulable:NoSchedule network-unavailable:NoSchedule"; got != want {
		t.Errorf("tolerations %s, want %s", got, want)
	}
	if gates := fmt.Sprint(pod.Spec.ReadinessGates); gates != "[{InPlaceUpdateReady} {KruisePodReady}]" {
		t.Errorf("gates %s", gates)
	}
	if pod.Spec.NodeName != "" || scheduler.NodeOf(pod) != "n1" {
		t.Errorf("it is for node %s, and on %s", scheduler.NodeOf(pod), pod.Spec.NodeName)
	}

	s.Features.AssignDirectly = true
	if direct := NewPlan(s).Create[0].Pod; direct.Spec.NodeName != "n1" || direct.Spec.SchedulerName != "kubernetes.io/daemonset-controller" || direct.Spec.Affinity != nil {
		t.Errorf("directly: on %s by %s, with %v", direct.Spec.NodeName, direct.Spec.SchedulerName, direct.Spec.Affinity)
	}
	s.Taken = map[string]bool{pod.Name: true}
	if other := NewPlan(s).Create[0].Pod; other.Name == pod.Name {
		t.Errorf("the name %s is somebody else's", other.Name)
	}
	s.RefusedNodes = map[string]bool{"n1": true}
	if first := scheduler.NodeOf(NewPlan(s).Create[0].Pod); first != "n2" {
		t.Errorf("%s comes first, though it was refused", first)
	}
}

// TestSystemTaints: DaemonSets tolerate nodes in trouble. (DS-2)
func TestSystemTaints(t *testing.T) {
	for _, test := range []struct {
		key, effect, set string
		want             string
	}{
		{"node.kubernetes.io/not-ready", "NoExecute", "{}", "+n1:v2"},
		{"node.kubernetes.io/unreachable", "NoExecute", "{}", "+n1:v2"},
		{"node.kubernetes.io/disk-pressure", "NoSchedule", "{}", "+n1:v2"},
		{"node.kubernetes.io/memory-pressure", "NoSchedule", "{}", "+n1:v2"},
		{"node.kubernetes.io/pid-pressure", "NoSchedule", "{}", "+n1:v2"},
		{"node.kubernetes.io/unschedulable", "NoSchedule", "{}", "+n1:v2"},
		{"node.kubernetes.io/network-unavailable", "NoSchedule", "{}", ""},
		{"node.kubernetes.io/network-unavailable", "NoSchedule", "spec: {template: {spec: {hostNetwork: true}}}", "+n1:v2"},
		{"node.kubernetes.io/out-of-service", "NoExecute", "{}", ""},
		{"mine", "PreferNoSchedule", "{}", "+n1:v2"},
	} {
		s := place(t, setOf(t, test.set), "n1")
		s.Nodes[0].Spec.Taints = []corev1.Taint{{Key: test.key, Effect: corev1.TaintEffect(test.effect)}}
		s.Nodes[0].Spec.Unschedulable = test.key == "node.kubernetes.io/unschedulable"
		if got := show(NewPlan(s)); got != test.want {
			t.Errorf("%s:%s with %s: plan %q, want %q", test.key, test.effect, test.set, got, test.want)
		}
	}
}

// TestStatus counts nodes. (DS-17)
func TestStatus(t *testing.T) {
	for _, test := range []struct{ name, set, nodes, want string }{
		{"nothing", "{}", "", "desired=0 current=0 mis=0 ready=0 updated=0 available=0 unavailable=0"},
		{"all kinds", ready10(two), "n1 n2:v1 n3:v2 n4:v2+young n5:v1+down n6:v2+leaving n7:v1+Failed tainted:v1 other:v1",
			"desired=8 current=7 mis=1 ready=4 updated=2 available=3 unavailable=5"},
		{"the oldest pod of a node counts", surge, "n1:v1 n1:v2+never", "desired=1 current=1 mis=0 ready=1 updated=0 available=1 unavailable=0"},
		{"the oldest one that has ended, too", surge, "n1:v1+Failed n1:v2+Failed", "desired=1 current=1 mis=0 ready=0 updated=0 available=0 unavailable=1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := place(t, setOf(t, test.set), test.nodes)
			for range 2 {
				if got := showStatus(NewPlan(s).Status); got != test.want {
					t.Errorf("status %s\nwant   %s", got, test.want)
				}
				slices.Reverse(s.Pods) // in whatever order they come
			}
		})
	}
}

// TestUnusable: what cannot be planned is reported, and nothing is done. (DS-1)
func TestUnusable(t *testing.T) {
	ending := place(t, newSet(), "n1 n2:v1")
	ending.Set.DeletionTimestamp = &metav1.Time{Time: noon}
	if plan := NewPlan(ending); show(plan) != "" || plan.Status != nil {
		t.Errorf("a DaemonSet that is being deleted: %s", plan)
	}
	all := place(t, newSet(), "n1 n2:v1")
	all.Set.Spec.Selector = &metav1.LabelSelector{}
	if plan := NewPlan(all); !plan.SelectsAll || len(plan.Create)+len(plan.Delete) > 0 {
		t.Errorf("a selector of everything: %s", plan)
	}
	for name, change := range map[string]func(*Snapshot){
		"no set":       func(s *Snapshot) { s.Set = nil },
		"no time":      func(s *Snapshot) { s.Now = time.Time{} },
		"no selector":  func(s *Snapshot) { s.Set.Spec.Selector = nil },
		"a bad limit":  func(s *Snapshot) { s.Set = setOf(t, rolling+"maxUnavailable: some}}}") },
		"a bad surge":  func(s *Snapshot) { s.Set = setOf(t, rolling+"maxSurge: some}}}") },
		"a bad burst":  func(s *Snapshot) { s.Set = setOf(t, "spec: {burstReplicas: some}") },
		"a partition":  func(s *Snapshot) { s.Set = setOf(t, rolling+"partition: -1}}}") },
		"a percentage": func(s *Snapshot) { s.Set = setOf(t, rolling+"partition: few}}}") },
		"node labels":  func(s *Snapshot) { s.Set = setOf(t, rolling+"selector: {matchLabels: {'-': ''}}}}}") },
		"other labels": func(s *Snapshot) { s.Set.Spec.Template.Labels = map[string]string{"app": "db"} },
	} {
		s := place(t, newSet(), "n1 n2:v2")
		change(s)
		if plan := NewPlan(s); len(plan.Problems) == 0 || len(plan.Create)+len(plan.Delete) > 0 {
			t.Errorf("%s: %s", name, plan)
		}
	}
	s := place(t, newSet(), "n1")
	s.Nodes = append(s.Nodes, nil)
	if plan := NewPlan(s); len(plan.Problems) != 1 || len(plan.Create) != 1 {
		t.Errorf("a nil node: %s", plan)
	}
}
