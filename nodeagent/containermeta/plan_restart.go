// SPDX-License-Identifier: Apache-2.0

package containermeta

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/podwright/podwright/inplace"
	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/nodeagent"
)

// updating tells whether an in-place update is under way (CM-6). Nothing is
// restarted outside of one.
func updating(pod *corev1.Pod) bool {
	ready := readiness.Condition(pod, inplacev1alpha1.InPlaceUpdateReady)
	return ready != nil && ready.Status == corev1.ConditionFalse
}

// restartDue tells by the pod alone whether a container may have to be
// restarted.
func restartDue(pod *corev1.Pod, features Features) bool {
	if features.NoEnvFromMetadata || !concerns(pod) || !updating(pod) {
		return false
	}
	meta := reported(pod)
	for i := range pod.Spec.Containers {
		spec := &pod.Spec.Containers[i]
		if outdated, _ := isOutdated(pod, spec, entry(meta, spec.Name)); outdated {
			return true
		}
	}
	return false
}

// isOutdated tells whether a container is known to run with another environment
// than the labels and annotations of its pod give it now.
func isOutdated(pod *corev1.Pod, spec *corev1.Container, e *inplacev1alpha1.RuntimeContainer) (bool, error) {
	if e == nil || e.Hashes.ExtractedEnvFromMetadataHash == 0 {
		return false, nil
	}
	want, err := inplace.EnvHash(inplace.ExpectedEnv(pod, spec))
	return err == nil && want != e.Hashes.ExtractedEnvFromMetadataHash, err
}

// restart plans the restarts of the containers that are reported with an
// outdated environment, while the pod is updated in place (CM-6).
func (p *planner) restart(now *inplacev1alpha1.RuntimeContainersMeta) {
	if p.Features.NoEnvFromMetadata || !updating(p.Pod) {
		return
	}
	for i := range now.Containers {
		e := &now.Containers[i]
		outdated, err := isOutdated(p.Pod, specOf(p.Pod, e.Name), e)
		switch c := p.newest[e.Name]; {
		case err != nil:
			p.wait(e.Name, ruleUnreadable, err.Error())
		case !outdated:
		case c.GetState() != criv1.ContainerState_CONTAINER_RUNNING:
			p.wait(e.Name, ruleKubelet, "it has ended, and the kubelet will start it again")
		default:
			p.restartOne(e.Name, c.GetId())
		}
	}
}

// restartOne plans the restart of a container, not before its time.
func (p *planner) restartOne(name, id string) {
	p.Outdated = append(p.Outdated, id)
	tried, known := p.Attempts[id]
	if !known {
		tried.Last = p.Now
	}
	wait := tried.Last.Add(retryAfter(tried.Count)).Sub(p.Now)
	if wait <= 0 {
		p.Restarts = append(p.Restarts, Restart{Container: name, ID: id})
		return
	}
	p.lookAgain(wait)
	w := p.wait(name, ruleRestart, fmt.Sprintf("it is restarted in %s, since its environment comes from labels or annotations that have changed; %d tries so far", wait, tried.Count))
	w.Since, w.Reason.Observed = tried.Last, int32(tried.Count)
}

// containerOf returns the container of the runtime with an ID.
func (s *Snapshot) containerOf(id string) *criv1.Container {
	for _, c := range s.Containers {
		if c.GetId() == id {
			return c
		}
	}
	return nil
}

// waitsFor is the message of the event about restarts that wait for workers that namespaces hold.
func (p *Plan) waitsFor(holders string) string {
	var names []string
	for _, restart := range p.Restarts {
		names = append(names, restart.Container)
	}
	return fmt.Sprintf("The restart of %s, whose environment comes from labels or annotations that have changed, waits for a worker of the node agent: "+
		"containers of other pods are being stopped, of %s", strings.Join(names, ", "), holders)
}

// killing is the message of the event about a restart.
func (s *Snapshot) killing(r Restart) string {
	return fmt.Sprintf("Stopping containerID %s by container meta restarter", nodeagent.ContainerID(s.Runtime, r.Container))
}
