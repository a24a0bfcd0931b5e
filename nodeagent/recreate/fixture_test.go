// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// now is the time of all snapshots; requests were created 10 s before.
var (
	now     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	created = now.Add(-10 * time.Second)
)

const (
	pending    = v1alpha1.ContainerRecreateRequestPending
	recreating = v1alpha1.ContainerRecreateRequestRecreating
	succeeded  = v1alpha1.ContainerRecreateRequestSucceeded
	failed     = v1alpha1.ContainerRecreateRequestFailed
	completed  = v1alpha1.ContainerRecreateRequestCompleted

	acquired     = v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation
	announcement = v1alpha1.ContainerRecreateRequestStoppingAnnotation

	synced = v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation
)

type edit = func(*v1alpha1.ContainerRecreateRequest)

// newRequest returns a request as the webhook leaves it, for main, which was the
// container m1, and side, which was s1.
func newRequest(name string, edits ...edit) *v1alpha1.ContainerRecreateRequest {
	r := &v1alpha1.ContainerRecreateRequest{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: name, UID: "uid-of-request", ResourceVersion: "7", Generation: 1, CreationTimestamp: metav1.NewTime(created),
			Annotations: map[string]string{},
			Labels: map[string]string{
				v1alpha1.ContainerRecreateRequestActiveLabel:   "true",
				v1alpha1.ContainerRecreateRequestNodeNameLabel: "node-1",
				v1alpha1.ContainerRecreateRequestPodUIDLabel:   "u",
			},
		},
		Spec: v1alpha1.ContainerRecreateRequestSpec{
			PodName: "web-0", Strategy: &v1alpha1.ContainerRecreateRequestStrategy{},
			Containers: []v1alpha1.ContainerRecreateRequestContainer{meant("main", "m1"), meant("side", "s1")},
		},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

func meant(name, id string) v1alpha1.ContainerRecreateRequestContainer {
	return v1alpha1.ContainerRecreateRequestContainer{Name: name, StatusContext: &v1alpha1.ContainerRecreateRequestContainerContext{ContainerID: "containerd://" + id}}
}

// Edits of requests.

func phase(p v1alpha1.ContainerRecreateRequestPhase) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Status.Phase = p }
}

func strategy(change func(*v1alpha1.ContainerRecreateRequestStrategy)) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { change(r.Spec.Strategy) }
}

func unready(seconds int64) edit {
	return strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) { s.UnreadyGracePeriodSeconds = &seconds })
}

func minStarted(seconds int32) edit {
	return strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) { s.MinStartedSeconds = seconds })
}

func grace(seconds int64) edit {
	return strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) { s.TerminationGracePeriodSeconds = &seconds })
}

var (
	ordered edit = strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) { s.OrderedRecreate = true })
	forced  edit = strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) { s.ForceRecreate = true })
	ignore  edit = strategy(func(s *v1alpha1.ContainerRecreateRequestStrategy) {
		s.FailurePolicy = v1alpha1.ContainerRecreateRequestFailurePolicyIgnore
	})
)

func annotated(key, value string) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.Annotations[key] = value }
}

func ready(entries ...string) edit {
	var list []string
	for _, e := range entries {
		name, id, _ := strings.Cut(e, "=")
		list = append(list, fmt.Sprintf(`{"name":%q,"ready":true,"restartCount":1,"containerID":"containerd://%s"}`, name, id))
	}
	return annotated(synced, "["+strings.Join(list, ",")+"]")
}

// states records states: "main Recreating killed".
func states(texts ...string) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) {
		r.Status.Phase = recreating
		for _, text := range texts {
			fields := strings.SplitN(text, " ", 3)
			s := state{Name: fields[0], Phase: v1alpha1.ContainerRecreateRequestPhase(fields[1])}
			if len(fields) == 3 {
				rest, killed := strings.CutPrefix(fields[2], "killed")
				s.IsKilled, s.Message = killed, strings.TrimSpace(rest)
			}
			r.Status.ContainerRecreateStates = append(r.Status.ContainerRecreateStates, s)
		}
	}
}

func at(t time.Time) edit {
	return func(r *v1alpha1.ContainerRecreateRequest) { r.CreationTimestamp = metav1.NewTime(t) }
}

func isOver(r *v1alpha1.ContainerRecreateRequest) {
	at := metav1.NewTime(now)
	r.Status.Phase, r.Status.CompletionTime = completed, &at
}

func deleting(r *v1alpha1.ContainerRecreateRequest) {
	at := metav1.NewTime(now)
	r.DeletionTimestamp = &at
}

// container is one of the runtime, "main m1" for a running one, "main m1
// EXITED" for one of another state.
func container(text string) *criv1.Container {
	fields := strings.Fields(text)
	c := &criv1.Container{
		Id: fields[1], PodSandboxId: "box", State: criv1.ContainerState_CONTAINER_RUNNING,
		Labels: podLabels("shop", "web-0", "u"),
	}
	c.Labels[nodeagent.ContainerNameLabel] = fields[0]
	if len(fields) > 2 {
		c.State = criv1.ContainerState(criv1.ContainerState_value["CONTAINER_"+fields[2]])
	}
	return c
}

// podLabels are those by which the kubelet tells the runtime of a pod.
func podLabels(namespace, name, uid string) map[string]string {
	return map[string]string{nodeagent.PodNamespaceLabel: namespace, nodeagent.PodNameLabel: name, nodeagent.PodUIDLabel: uid}
}

// running is a snapshot of containers, of which later ones are newer.
func running(texts ...string) *Snapshot {
	s := &Snapshot{Runtime: "containerd", Now: now, Sandbox: &criv1.PodSandboxStatus{Id: "box", Labels: podLabels("shop", "web-0", "u")}}
	for i, text := range texts {
		c := container(text)
		c.CreatedAt = created.UnixNano() + int64(i)
		s.Containers = append(s.Containers, c)
	}
	return s
}

func showState(s state) string {
	text := s.Name + " " + string(s.Phase)
	if s.IsKilled {
		text += " killed"
	}
	if s.Message != "" {
		text += " " + s.Message
	}
	return text
}

func showStatus(s *v1alpha1.ContainerRecreateRequestStatus) string {
	words := []string{string(s.Phase)}
	if s.Message != "" && heldup.OfText(s.Message) == nil { // the manager's words, see its TestHeldUp
		words[0] += ": " + s.Message
	}
	for _, c := range s.ContainerRecreateStates {
		words = append(words, showState(c))
	}
	return strings.Join(words, ", ")
}

// showWrite shows a write. That it names the generation of the request goes without saying. (CRR-6)
func showWrite(w *Write) string {
	text := w.Request.Name + ": " + showStatus(w.Status)
	if w.Status.ObservedGeneration != w.Request.Generation {
		text += fmt.Sprintf(", of generation %d, not %d", w.Status.ObservedGeneration, w.Request.Generation)
	}
	return text
}

// show writes a plan, a line a step.
func show(p *Plan) []string {
	out := []string{}
	for _, w := range p.Answers {
		out = append(out, "answer "+showWrite(&w))
	}
	if p.Write != nil {
		out = append(out, showWrite(p.Write))
	}
	if p.Stop != nil && p.Stop.Announce != "" {
		out = append(out, "announce "+p.Stop.Announce)
	}
	if p.Stop != nil {
		out = append(out, "stop "+p.Stop.Container+" "+p.Stop.ID)
	}
	if p.RequeueAfter != 0 {
		out = append(out, "again after "+p.RequeueAfter.String())
	}
	return out
}

func hook(words ...string) *corev1.LifecycleHandler {
	return &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: words}}
}
