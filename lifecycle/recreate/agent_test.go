// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/podwright/podwright/internal/testing/fakecri"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// node is the kubelet and the agent of a node.
type node struct {
	*story
	fakecri.NodeKubelet
}

// kubelet starts containers that do not run, and reports all.
func (n *node) kubelet() {
	n.T.Helper()
	n.Must(n.Step(n.T.Context(), "default"))
	synctest.Wait()
}

// agent makes a step for every pod: it chooses the request to work on, and has
// the others wait. (CRR-5.2)
func (n *node) agent() {
	n.T.Helper()
	list, err := n.requests.List(n.T.Context(), metav1.ListOptions{
		LabelSelector: "crr.apps.kruise.io/node-name=node-1,crr.apps.kruise.io/active=true",
	})
	n.Must(err)
	byPod := map[string][]*v1alpha1.ContainerRecreateRequest{}
	for i := range list.Items {
		if r := &list.Items[i]; r.DeletionTimestamp == nil && r.Status.CompletionTime == nil {
			byPod[r.Spec.PodName] = append(byPod[r.Spec.PodName], r)
		}
	}
	order := []v1alpha1.ContainerRecreateRequestPhase{recreating, pending, ""}
	for _, requests := range byPod {
		slices.SortFunc(requests, func(a, b *v1alpha1.ContainerRecreateRequest) int {
			return cmp.Or(cmp.Compare(slices.Index(order, a.Status.Phase), slices.Index(order, b.Status.Phase)),
				a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
		})
		for _, waiting := range requests[1:] {
			if waiting.Status.Phase == "" {
				waiting.Status.Phase = pending
				n.write(waiting)
			}
		}
		stop := func(i int) { n.Runtime.End(n.runs(requests[0], i), 143) }
		runs := func(i int) string { return "containerd://" + n.runs(requests[0], i) }
		if next := recreate.AgentStep(requests[0], false, stop, runs); !equality.Semantic.DeepEqual(next.Status, requests[0].Status) {
			n.write(next)
		}
	}
	synctest.Wait()
}

// runs is the ID of the newest container of a request.
func (n *node) runs(r *v1alpha1.ContainerRecreateRequest, i int) (id string) {
	for _, c := range n.Runtime.Containers() {
		if c.SandboxID == "sandbox-"+r.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel] && c.Status.Metadata.Name == r.Spec.Containers[i].Name {
			id = c.Status.Id
		}
	}
	return id
}

// write updates the status, unless another writer was faster.
func (n *node) write(r *v1alpha1.ContainerRecreateRequest) {
	n.T.Helper()
	if _, err := n.requests.UpdateStatus(n.T.Context(), r, metav1.UpdateOptions{}); !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
		n.Must(err)
	}
}

// replay sends the requests of an agent of OpenKruise, as they were written down, to the status of a request. It shows what the manager has reported of
// the containers before each of them. At last it shows whether the agent was told since when the pod is out of service.
func (s *story) replay(file, name string) (reported string) {
	s.T.Helper()
	patches.Replay(s.T, "testdata/agents/"+file, func(d time.Duration) { s.Sleep(d.String()) }, func(verb, text string) {
		r := s.get(name)
		if verb == "restart" {
			s.node.Runtime.End(s.node.runs(r, 0), 1)
			s.node.kubelet()
			return
		}
		reported += fmt.Sprintf("reported %s\n", cmp.Or(r.Annotations[syncAnnotation], "nothing"))
		if verb == "update" {
			r.Status = v1alpha1.ContainerRecreateRequestStatus{}
			s.Must(json.Unmarshal([]byte(text), &r.Status))
			_, err := s.requests.UpdateStatus(s.T.Context(), r, metav1.UpdateOptions{})
			s.Must(err)
		} else {
			s.patchRequest(name, text, "status")
		}
		synctest.Wait()
	})
	return reported + fmt.Sprintf("told since when it is out of service: %t\n", s.get(name).Annotations[acquired] != "")
}
