// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"
	"strings"
	"time"

	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/internal/heldup"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// now is the time of all snapshots; requests were created 10 s before.
var (
	now     = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	created = now.Add(-10 * time.Second)
)

const (
	succeeded = v1alpha1.ContainerRecreateRequestSucceeded
	completed = v1alpha1.ContainerRecreateRequestCompleted

	announcement = v1alpha1.ContainerRecreateRequestStoppingAnnotation
)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newRequest returns a request as the webhook leaves it, for main, which was the
// container m1, and side, which was s1. Words change it.
func newRequest(name string, changes ...string) *v1alpha1.ContainerRecreateRequest {
	r := patches.Changed(words, &v1alpha1.ContainerRecreateRequest{}, append([]string{"filled"}, changes...)...)
	r.Name = name
	return r
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
	if s.Message != "" && heldup.OfText(s.Message) == nil { // the manager's words
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
