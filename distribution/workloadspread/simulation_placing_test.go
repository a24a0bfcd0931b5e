// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/client"
	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// placing is a Placer of a process, and who judges its choices.
type placing struct {
	*Placer
	process *simulation.Process
	bug     *bug
	judge   invariants.Placed
	// decided is what the caches showed when it was decided about a pod, by the key of its reservation. That is when the write is sent.
	decided map[string]*invariants.State
	lock    sync.Mutex
}

// apartClock ends no two pauses at once. Which of two pods is placed first is then not left to the scheduler of Go, and a seed tells the
// same history each time.
type apartClock struct {
	clock.RealClock
	pauses atomic.Int64
}

// After tells the time when a pause ends.
func (c *apartClock) After(d time.Duration) <-chan time.Time {
	return c.RealClock.After(d + time.Duration(c.pauses.Add(1)))
}

// newPlacing returns the Placer of a process, of which a pod that no cache has shown counts for so long.
func newPlacing(p *simulation.Process, counts time.Duration, bug *bug) (*placing, error) {
	reader, err := readerOf(p, bug)
	if err != nil {
		return nil, err
	}
	o := Options{ControllerOptions: podwright.ControllerOptions{Reader: misread(reader, bug.placerSees, bug.placerHides)}, NoNodes: true, Alone: !bug.together || bug.strangers}
	o.Clock = &apartClock{}
	if bug.of == ofRollout {
		o.Custom = customKinds(p)
	}
	it := &placing{process: p, bug: bug, judge: invariants.Placed{Counts: counts}, decided: map[string]*invariants.State{}}
	if !o.Alone {
		config := rest.CopyConfig(p.Config)
		config.Wrap(simulation.SpoilBodies(http.MethodPatch, "workloadspreads", it.note))
		if bug.patient {
			config.Wrap(patiently)
		}
		if o.Distribution, err = client.NewForConfig(config); err != nil {
			return nil, err
		}
	}
	placer, keys := newPlacer(o), 0
	placer.newKey = func() string {
		keys++
		return fmt.Sprint(p.Name, "-", keys)
	}
	it.Placer = placer
	p.OnAdd(string(resourcePods), func(object simulation.Object) {
		if !bug.misses {
			placer.podAdded(object)
		}
		it.judge.See(object.(*corev1.Pod))
	})
	return it, nil
}

// note notes what the caches show when a write is sent that says to which subsets pods go.
func (p *placing) note(body map[string]any) {
	var says struct {
		Status v1alpha1.WorkloadSpreadStatus `json:"status"`
	}
	data, err := json.Marshal(body)
	if err != nil || json.Unmarshal(data, &says) != nil {
		return
	}
	now := p.process.Cached()
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, s := range says.Status.SubsetStatuses {
		for key := range s.CreatingPods {
			if strings.Contains(key, "."+p.process.Name+"-") {
				p.decided[key] = now
			}
		}
	}
}

// decidedBy is what the caches showed when it was decided about a pod: now, if nothing was written.
func (p *placing) decidedBy(pod *corev1.Pod) *invariants.State {
	p.lock.Lock()
	defer p.lock.Unlock()
	var says v1alpha1.MatchedWorkloadSpread
	_ = json.Unmarshal([]byte(pod.Annotations[v1alpha1.MatchedWorkloadSpreadAnnotation]), &says) // otherwise it says nothing
	state := p.decided[says.UID]
	delete(p.decided, says.UID)
	if state == nil {
		return p.process.Cached()
	}
	state.Now = time.Now()
	return state
}

// judged judges what has become of a pod.
func (p *placing) judged(before, after *corev1.Pod) {
	truth := map[string]*corev1.Pod{}
	for _, object := range p.process.Live(string(resourcePods)) {
		truth[object.GetName()] = object.(*corev1.Pod)
	}
	if p.bug.forgets {
		p.reserved.forget(simulation.Web)
	}
	cached := p.decidedBy(after)
	if p.bug.two {
		cached = invariants.WithHolder(cached)
	}
	if !p.bug.together {
		p.process.Violates(p.judge.Judge(cached, truth, before, after)...)
		return
	}
	for _, live := range p.process.Live(string(resourceSpreads)) {
		if cached.Workload != nil && live.GetUID() == cached.Workload.GetUID() {
			p.process.Violates(invariants.PlacedTogether(cached, live, truth, before, after)...)
		}
	}
}

// lose drops what a pod required of nodes before it was placed, if that is the bug.
func (p *placing) lose(before, after *corev1.Pod) {
	a, b := after.Spec.Affinity, before.Spec.Affinity
	if !p.bug.losesTerms || a == nil || b == nil || equality.Semantic.DeepEqual(a, b) || a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return
	}
	for i := range a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms {
		term := &a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[i]
		term.MatchExpressions = term.MatchExpressions[len(term.MatchExpressions)-1:] // that of the subset
	}
}

// startWebhook starts a replica of the webhook of pods.
func startWebhook(p *simulation.Process, bug *bug) (simulation.Webhook, error) {
	placing, err := newPlacing(p, 30*time.Second, bug)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		pod, ok := request.Object.Object.(*corev1.Pod)
		if request.Operation != admissionv1.Create || !ok {
			return admission.Allowed()
		}
		before := pod.DeepCopy()
		if err := placing.Mutate(ctx, request, pod); err != nil {
			return admission.Errored(err)
		}
		placing.lose(before, pod)
		placing.judged(before, pod)
		if bug.webhookWrites {
			note(ctx, p)
		}
		return admission.Allowed()
	}, nil
}
