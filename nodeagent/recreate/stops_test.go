// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/nodeagent"
)

// A namespace whose containers do not end leaves workers to others. (CRR-5.1)
func TestStoryShare(t *testing.T) {
	play(t, func(n *node) {
		n.stopManager() // it knows of no pods in other namespaces here
		n.workers = 4
		n.start()
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			n.pod(name)
			main := n.containerOf(name)
			n.runtime.SetEndsAfter(main, time.Hour)
			n.forge(name, name, names(string(n.getPod(name).UID), "main", main), grace(7200))
		}
		n.Sleep(time.Minute)
		if got := n.stops(); len(got) != 3 {
			t.Errorf("of a namespace with 5 requests %q are being stopped, want 3", got)
		}
		waiting := map[string]int{}
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			waiting[n.get(name).Status.Message]++
		}
		if n := waiting["waits for a worker of the node agent: containers of other pods are being stopped, of default (3)"]; n != 2 || waiting[""] != 3 {
			t.Errorf("%d say who waits for whom, want 2: %v", n, waiting)
		}
		other := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "db-0", UID: "db"},
			Spec:       corev1.PodSpec{NodeName: "node-1", Containers: []corev1.Container{{Name: "db", Image: "db:1"}}},
		}
		n.Must((&fakecri.Kubelet{Client: n.kube, Runtime: n.runtime}).Run(other))
		r := newRequest("r", names("db", "db", "db-11"))
		r.Namespace, r.UID, r.ResourceVersion, r.Spec.PodName = "other", "", "", "db-0"
		_, err := n.lifecycle("test").ContainerRecreateRequests("other").Create(n.Context(), r, metav1.CreateOptions{})
		n.Must(err)
		n.Sleep(5 * time.Second)
		n.Want("another namespace", []string{"StopContainer db-11 30s"}, n.stops())
		n.Sleep(3 * time.Hour)
		if got := n.stops(); len(got) != 2 {
			t.Errorf("then %q are stopped, want the other 2", got)
		}
		for _, name := range []string{"web-0", "web-1", "web-2", "web-3", "web-4"} {
			if r := n.get(name); r.Status.Message != "" {
				t.Errorf("in the end %s says %q", name, r.Status.Message)
			}
		}
	})
}

// containerOf returns the ID of the container main of a pod.
func (n *node) containerOf(pod string) string {
	n.Helper()
	_, id, _ := nodeagent.SplitContainerID(n.getPod(pod).Status.ContainerStatuses[0].ContainerID)
	return id
}
