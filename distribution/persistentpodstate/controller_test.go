// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestPlanOfNothing(t *testing.T) {
	if p := NewPlan(nil); len(p.Problems) == 0 || (&Plan{}).String() != "" {
		t.Errorf("a plan of nothing has problems %v, and an empty one says %q", p.Problems, &Plan{})
	}
}
