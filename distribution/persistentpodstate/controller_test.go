// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/distribution/podstate"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

const spec = `{"replicas":%d,"selector":{},"serviceName":"","template":{"spec":{"containers":[]}}}`

// web creates the StatefulSet web of Kubernetes.
func (c *cluster) web(replicas int, annotations string) metav1.OwnerReference {
	c.T.Helper()
	c.workload(webPath, "web", fmt.Sprintf(spec, replicas), annotations)
	return c.owner(webPath, "web")
}

// PPS-7: a workload that is created anew under its name inherits nothing, also if its controller was not there while it was gone.
func TestWorkloadOfTheSameName(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		c.nodes("a1", "b1")
		c.createState(newState("web", requires(host)))
		owner := c.web(2, "")
		for _, name := range []string{"web-0", "web-1"} {
			c.create(name, owner)
			c.bind(name, "a1")
		}
		c.expect("PPS-4: they are ready", "web", "web-0 on a1, web-1 on a1")
		stop()
		c.remove(webPath, "web")
		c.removePod("web-0")
		c.removePod("web-1")
		owner = c.web(2, "")
		c.create("web-0", owner)
		if pod := c.pod("web-0"); len(pod.Spec.NodeSelector) > 0 {
			t.Errorf("PPS-11: a pod of another workload is placed at %v", pod.Spec.NodeSelector)
		}
		_, stop = c.start()
		defer stop()
		c.expect("PPS-7: before they are ready", "web", "nothing recorded")
		c.bind("web-0", "b1")
		c.expect("PPS-4: once one is", "web", "web-0 on b1")
	})
}

// PPS-25: what is recorded comes within a second of what happens, with no other event to help, and nothing else does.
func TestStatus(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		reconciles, stop := c.start()
		defer stop()
		c.nodes("a1", "b1")
		c.createState(newState("web", requires(host)))
		c.expect("PPS-7: before its workload", "web", "nothing recorded")
		owner := c.web(2, "")
		c.create("web-0", owner)
		c.create("web-1", owner)
		c.expect("PPS-6: before the pods are ready", "web", "nothing recorded")
		c.bind("web-0", "a1")
		c.bind("web-1", "b1")
		c.expect("PPS-4: once they are", "web", "web-0 on a1, web-1 on b1")
		c.PatchPod("web-0", `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`, "status")
		c.expect("PPS-6: one is not ready", "web", "web-0 on a1, web-1 on b1")
		c.removePod("web-0")
		c.expect("PPS-8: it is gone", "web", "web-0 on a1, web-1 on b1")
		c.create("web-0", owner)
		if pod := c.pod("web-0"); pod.Spec.NodeSelector[host] != "a1" {
			t.Errorf("PPS-12: placed at %v", pod.Spec.NodeSelector)
		}
		c.schedule()
		c.edit(webPath, "web", `{"spec":{"replicas":1}}`)
		c.expect("PPS-8: scaled, and the pod is still there", "web", "web-0 on a1, web-1 on b1")
		c.removePod("web-1")
		c.expect("PPS-8: scaled", "web", "web-0 on a1")
		c.edit(webPath, "web", `{"spec":{"replicas":2,"ordinals":{"start":1}}}`)
		c.removePod("web-0")
		c.expect("PPS-8: it starts elsewhere", "web", "nothing recorded")
		c.ForgetRequests()
		before := reconciles.Count()
		c.Sleep("1h")
		if n := reconciles.Count() - before; n > 0 || len(c.Sent()) > 0 {
			t.Errorf("PPS-25: %d reconciles in an hour, and %v", n, c.Sent())
		}
		c.remove(webPath, "web")
		c.expect("PPS-7: its workload is gone", "web", "nothing recorded")
		if len(reconciles.Errors()) > 0 {
			t.Errorf("errors %v", reconciles.Errors())
		}
	})
}

func (c *cluster) pod(name string) *corev1.Pod {
	c.T.Helper()
	pod, err := c.Kube.CoreV1().Pods("default").Get(c.T.Context(), name, metav1.GetOptions{})
	c.Must(err)
	return pod
}

// PPS-1, PPS-2, PPS-24: the workloads of all kinds.
func TestWorkloads(t *testing.T) {
	reserved := `{"replicas":2,"reserveOrdinals":["x","0-0"],"ordinals":{"start":0}}`
	for _, test := range []struct {
		name, path, spec string
		state            *v1alpha1.PersistentPodState
		edit             func(*Options)
		want             string
	}{
		{"PPS-1: Kubernetes' own, by another version", webPath, fmt.Sprintf(spec, 2), newState("web", requires(host), targeting("apps/v1beta2", "StatefulSet", "web")), nil, "web-0 on a1, web-1 on a1"},
		{"PPS-2: nil replicas", webPath, `{"selector":{},"serviceName":"","template":{"spec":{"containers":[]}}}`, newState("web", requires(host)), nil, "web-0 on a1"},
		{"PPS-2: an Advanced StatefulSet", astsPath, `{"replicas":2,"reserveOrdinals":["x","0-0"]}`, newState("web", requires(host), targeting("apps.kruise.io/v1alpha1", "StatefulSet", "web")), nil, "web-1 on a1, web-2 on a1"},
		{"PPS-2: a kind of the white list", customPath, reserved, newState("web", requires(host), targeting("game.kruise.io/v1alpha1", "GameServerSet", "web")), nil, "web-1 on a1, web-2 on a1"},
		{"PPS-2: its replicas are not known", customPath, `{"replicas":"2"}`, newState("web", requires(host), targeting("game.kruise.io/v1alpha1", "GameServerSet", "web")), nil, "web-0 on a1, web-1 on a1, web-2 on a1"},
		{"PPS-1: another kind", webPath, fmt.Sprintf(spec, 2), newState("web", requires(host), targeting("apps.kruise.io/v1alpha1", "StatefulSet", "web")), nil, "nothing recorded"},
		{"PPS-24: a kind that nobody reads", customPath, reserved, newState("web", requires(host), targeting("game.kruise.io/v1alpha1", "GameServerSet", "web")),
			func(o *Options) { o.Custom = nil }, "nothing recorded; of another generation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				var edits []func(*Options)
				if test.edit != nil {
					edits = append(edits, test.edit)
				}
				_, stop := c.start(edits...)
				defer stop()
				c.nodes("a1")
				c.createState(test.state)
				c.workload(test.path, "web", test.spec, "")
				for i := range 3 {
					name := fmt.Sprintf("web-%d", i)
					c.create(name, c.owner(test.path, "web"))
					c.bind(name, "a1")
				}
				c.Sleep("1s")
				for i := range 3 {
					c.removePod(fmt.Sprintf("web-%d", i))
				}
				c.expect(test.name, "web", test.want)
				if n := c.Events.Count(v1alpha1.UnknownWorkloadEvent); (n > 0) != (test.edit != nil) || n > 1 {
					t.Errorf("PPS-24: %d events: %v", n, c.Events.All())
				}
			})
		})
	}
}

// PPS-24: what was recorded stays while the kind is not read.
func TestUnknownKindKeepsStatus(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.nodes("a1")
		c.createState(newState("web", requires(host), targeting("game.kruise.io/v1alpha1", "GameServerSet", "web")))
		c.workload(customPath, "web", `{"replicas":1}`, "")
		_, stop := c.start()
		c.create("web-0", c.owner(customPath, "web"))
		c.bind("web-0", "a1")
		c.expect("recorded", "web", "web-0 on a1")
		stop()
		c.removePod("web-0")
		_, stop = c.start(func(o *Options) { o.Custom = nil })
		defer stop()
		c.Sleep("10m")
		c.expect("PPS-24: nobody reads it", "web", "web-0 on a1")
	})
}

// PPS-13, PPS-17 to PPS-19: a required host that is gone. Within 60 s the pod is placed elsewhere, with an event of the pod
// and a condition. The node may go before the pod is created again, or after that.
func TestNodeGone(t *testing.T) {
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the pod was placed: %v", after), func(t *testing.T) {
			inCluster(t, func(t *testing.T, c *cluster) {
				_, stop := c.start()
				defer stop()
				c.nodes("a1", "b1")
				c.createState(newState("web", requires(host)))
				owner := c.web(1, "")
				c.create("web-0", owner)
				c.bind("web-0", "a1")
				c.expect("recorded", "web", "web-0 on a1")
				gone := time.Now()
				if after {
					c.removePod("web-0")
					c.create("web-0", owner)
					c.loseNode("a1")
				} else {
					c.loseNode("a1")
					c.create("web-0", owner)
				}
				c.expect("PPS-17: lost", "web", "web-0 on a1; 1 lost")
				for c.pod("web-0").Spec.NodeName == "" && time.Since(gone) < 2*time.Minute {
					c.Sleep("1s")
					if !slices.Contains(c.PodNames(), "web-0") { // what its workload does
						c.create("web-0", owner)
					}
					c.schedule()
				}
				took, pod := time.Since(gone).Round(time.Second), c.pod("web-0")
				t.Logf("placed on %q after %s; events %q", pod.Spec.NodeName, took, c.Events.All())
				if pod.Spec.NodeName != "b1" || took > time.Minute {
					t.Errorf("PPS-19: placed on %q after %s", pod.Spec.NodeName, took)
				}
				c.expect("PPS-6: recorded anew", "web", "web-0 on b1")
				about := slices.ContainsFunc(c.Events.All(), func(e string) bool { return strings.HasPrefix(e, "Warning TopologyLost: PersistentPodState web: ") })
				if n := c.Events.Count(v1alpha1.TopologyLostEvent); about != after || n == 0 || n > 2 {
					t.Errorf("PPS-18, PPS-19: events %q", c.Events.All())
				}
			})
		})
	}
}

// PPS-19: a node that comes back in time keeps its pod; one that is cordoned, or full, makes the pod wait.
func TestNodeComesBack(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		c.nodes("a1", "b1")
		c.createState(newState("web", requires(host)))
		owner := c.web(1, "")
		c.create("web-0", owner)
		c.bind("web-0", "a1")
		c.Sleep("1s")
		c.removePod("web-0")
		c.create("web-0", owner)
		uid := c.pod("web-0").UID
		c.Sleep("1h") // the scheduler does not place it: the node is full
		c.loseNode("a1")
		c.expect("PPS-17: lost", "web", "web-0 on a1; 1 lost")
		c.Sleep("20s")
		c.nodes("a1")
		c.expect("PPS-17: found", "web", "web-0 on a1")
		c.Sleep("1h")
		if c.pod("web-0").UID != uid {
			t.Error("PPS-19: the pod was deleted although its node has come back")
		}
		if condition := meta.FindStatusCondition(c.state("web").Status.Conditions, v1alpha1.TopologyLostCondition); condition.Status != "False" {
			t.Errorf("PPS-18: %+v", condition)
		}
	})
}

// PPS-21 to PPS-23: what the annotations of a workload have made.
func TestGenerated(t *testing.T) {
	const auto = `"kruise.io/auto-generate-persistent-pod-state":"true"`
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		c.web(1, auto+`,"kruise.io/required-persistent-topology":"`+host+`"`)
		c.expect("PPS-21: required", "web", "nothing recorded")
		if s := c.state("web"); !metav1.IsControlledBy(s, &metav1.ObjectMeta{UID: c.owner(webPath, "web").UID}) || s.Spec.RequiredPersistentTopology.NodeTopologyKeys[0] != host {
			t.Errorf("PPS-21: %+v", s)
		}
		c.edit(webPath, "web", `{"metadata":{"annotations":{"kruise.io/required-persistent-topology":null,"kruise.io/preferred-persistent-topology":"`+zone+`"}}}`)
		c.expect("PPS-22: preferred", "web", "nothing recorded")
		if s := c.state("web"); s.Spec.RequiredPersistentTopology != nil || s.Spec.PreferredPersistentTopology[0].Weight != 100 {
			t.Errorf("PPS-22: %+v", s.Spec)
		}
		c.edit(webPath, "web", `{"metadata":{"annotations":{"kruise.io/auto-generate-persistent-pod-state":"false"}}}`)
		c.expect("PPS-23: not asked for any more", "web", "none")
		c.createState(newState("web", requires(host)))
		c.edit(webPath, "web", `{"metadata":{"annotations":{"kruise.io/auto-generate-persistent-pod-state":null}}}`)
		c.expect("PPS-23: made by hand", "web", "nothing recorded")
		// One that names another workload is left alone, and the workload told, once.
		c.createState(newState("db", requires(host)))
		c.workload(webPath, "db", fmt.Sprintf(spec, 1), auto+`,"kruise.io/required-persistent-topology":"`+host+`"`)
		c.edit(webPath, "db", `{"spec":{"replicas":2}}`)
		c.expect("PPS-22: of another workload", "db", "nothing recorded")
		if n := c.Events.Count(v1alpha1.NotGeneratedEvent); n != 1 || c.Events.About()[len(c.Events.About())-1].Kind != "StatefulSet" {
			t.Errorf("PPS-22: events %q", c.Events.All())
		}
	})
	// The removal of the annotation is seen after a start, too, and what asks for one already.
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		c.web(1, auto+`,"kruise.io/required-persistent-topology":"`+host+`"`)
		c.expect("PPS-21: required", "web", "nothing recorded")
		stop()
		c.edit(webPath, "web", `{"metadata":{"annotations":null}}`)
		c.workload(astsPath, "db", `{"replicas":1}`, auto+`,"kruise.io/required-persistent-topology":"`+host+`"`)
		_, stop = c.start()
		defer stop()
		c.expect("PPS-23: while nobody was there", "web", "none")
		c.expect("PPS-21: while nobody was there", "db", "nothing recorded")
	})
}

// PPS-9, PPS-10: one PersistentPodState has 5,000 pods that do not fit. All is written in one request, and what is not
// kept is refused in words. Once that is settled, it costs nothing.
func TestFiveThousandPods(t *testing.T) {
	const count = 5000
	inCluster(t, func(t *testing.T, c *cluster) {
		owner := c.web(count, "")
		for i := range count {
			c.runningPod(fmt.Sprintf("web-%d", i), fmt.Sprintf("ip-10-0-255-%d.eu-central-1.compute.internal", i), owner)
		}
		c.createState(newState("web", requires(host)))
		c.ForgetRequests()
		reconciles, stop := c.start()
		defer stop()
		c.Sleep("10s")
		status := c.state("web").Status
		kept, condition := len(status.PodStates), meta.FindStatusCondition(status.Conditions, v1alpha1.StateTooLargeCondition)
		if writes := c.Count("controller")["patch persistentpodstates/status"]; writes != 1 {
			t.Errorf("%d writes of the status", writes)
		}
		want := fmt.Sprintf("the state of all pods would exceed %d bytes: that of %d pods (", podstate.MaxSize, count-kept)
		if kept < count/2 || kept == count || int(status.Pods) != kept || condition.Status != "True" || !strings.HasPrefix(condition.Message, want) {
			t.Errorf("PPS-10: %d of %d are kept: %+v", kept, count, condition)
		}
		if n := c.Events.Count(v1alpha1.StateTooLargeEvent); n != 1 {
			t.Errorf("PPS-18: %d events", n)
		}
		c.ForgetRequests()
		before := reconciles.Count()
		c.Sleep("1h")
		if reconciles.Count() != before || len(c.Sent()) > 0 {
			t.Errorf("PPS-9: an hour took %d reconciles and %v", reconciles.Count()-before, c.Sent())
		}
	})
}

// runningPod creates a node, and a pod that is ready on it.
func (c *cluster) runningPod(name, node string, owner metav1.OwnerReference) {
	c.T.Helper()
	ctx, pods := c.T.Context(), c.Kube.CoreV1().Pods("default")
	_, err := c.Kube.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: map[string]string{host: node}}}, metav1.CreateOptions{})
	c.Must(err)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, OwnerReferences: []metav1.OwnerReference{owner}}, Spec: corev1.PodSpec{NodeName: node},
	}, metav1.CreateOptions{})
	c.Must(err)
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	_, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	c.Must(err)
}

// The plan can be asked for without a reconcile, and shows nothing of what is not there.
func TestPlan(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		c.nodes("a1")
		owner := c.web(1, "")
		c.createState(newState("web", requires(host)))
		c.create("web-0", owner)
		c.bind("web-0", "a1")
		o := c.options
		controller, err := New(o)
		c.Must(err)
		defer c.Start(controller.Run)()
		c.Sleep("1s")
		key := types.NamespacedName{Namespace: "default", Name: "web"}
		snapshot, err := controller.Snapshot(t.Context(), key)
		c.Must(err)
		snapshot.Nodes = nil
		if plan := NewPlan(snapshot); len(plan.Record.Lost) != 1 {
			t.Errorf("without nodes %v are lost", plan.Record.Lost)
		}
		if snapshot, err := controller.Snapshot(t.Context(), types.NamespacedName{Namespace: "default", Name: "other"}); snapshot != nil || err != nil {
			t.Errorf("snapshot %v, error %v", snapshot, err)
		}
	})
	if p := NewPlan(nil); len(p.Problems) == 0 {
		t.Error("a plan of nothing has no problem")
	}
	if diff := cmp.Diff("", (&Plan{}).String()); diff != "" {
		t.Error(diff)
	}
}
