// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"strings"
	"testing"

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

// PPS-22: a PersistentPodState that names another workload is left alone, and the workload told, once.
func TestGeneratedForAnotherWorkload(t *testing.T) {
	inCluster(t, func(t *testing.T, c *cluster) {
		_, stop := c.start()
		defer stop()
		c.createState(newState("db", requires(host)))
		c.workload(webPath, "db", fmt.Sprintf(spec, 1), `"kruise.io/auto-generate-persistent-pod-state":"true","kruise.io/required-persistent-topology":"`+host+`"`)
		c.edit(webPath, "db", `{"spec":{"replicas":2}}`)
		c.expect("PPS-22: of another workload", "db", "nothing recorded")
		if n := c.Events.Count(v1alpha1.NotGeneratedEvent); n != 1 || c.Events.About()[len(c.Events.About())-1].Kind != "StatefulSet" {
			t.Errorf("PPS-22: events %q", c.Events.All())
		}
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
