// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// Webhook answers what the API server asks before a pod is created, deleted, evicted or changed.
type Webhook func(context.Context, *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse

// call is a question to a replica of the webhook, for which a request waits.
type call struct {
	request *request
	process *Process
	asked   *question
	cancel  context.CancelFunc

	response *admissionv1.AdmissionResponse
	panic    string
}

func (h *history) startWebhook() {
	h.started++
	p := h.newProcess(fmt.Sprint("webhook-", h.started), &kind{Subject: h.workload})
	var err error
	p.serve, err = h.workload.StartWebhook(p)
	h.must(err)
	h.webhooks = append(h.webhooks, p)
	p.fill(h.version)
}

func (h *history) startWebhooks() {
	for range h.workload.Webhooks {
		h.startWebhook()
	}
}

// restartWebhook has a replica of the webhook crash, and starts another one. Requests that wait for its
// answers fail.
func (h *history) restartWebhook(r *rand.Rand) {
	p := h.webhooks[r.IntN(len(h.webhooks))]
	h.say("%s crashes", p.Name)
	h.webhooks = slices.DeleteFunc(h.webhooks, func(other *Process) bool { return other == p })
	h.end(p)
	h.settle()
	h.startWebhook()
	h.say("%s starts", h.webhooks[len(h.webhooks)-1].Name)
}

func (h *history) showWebhook(r *rand.Rand) {
	h.showCaches(h.webhooks[r.IntN(len(h.webhooks))], r)
}

// asksWebhook tells whether a request is one that the webhook is asked about, and has not been
// since the pod changed. An eviction is asked about once.
func (h *history) asksWebhook(r *request) bool {
	if len(h.webhooks) == 0 || h.workload.OnlyCreations || r.Resource != pods {
		return false
	}
	switch {
	case r.evicts():
		return r.admitted == ""
	case r.Verb == "delete", (r.Verb == "patch" || r.Verb == "update") && (r.Subresource == "" || r.Subresource == "resize"):
		pod := h.records[pods].objects[r.Name]
		return pod != nil && r.admitted != pod.GetResourceVersion()
	}
	return false
}

func (r *request) evicts() bool {
	return r.Verb == "create" && r.Resource == pods && r.Subresource == "eviction"
}

// admit asks a replica of the webhook about a request, which waits. If the webhook answers without a request of its
// own, the request goes on at once. It also goes on at once if the API server refuses it by itself.
func (h *history) admit(r *request) (goesOn bool) {
	review, version := h.review(r)
	if review == nil {
		return true
	}
	h.calls++
	p := h.webhooks[h.calls%len(h.webhooks)]
	h.requests.leave(r)
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	c := &call{request: r, process: p, cancel: cancel, asked: h.question(p, r.process.Name, operationOf(r), r.Name)}
	c.asked.DryRun = r.DryRun
	c.asked.After, _ = review.Object.Object.(invariants.Object)
	for _, other := range h.open {
		if other.process == p && other.request.Name == r.Name {
			c.asked.Shared, other.asked.Shared = true, true
		}
	}
	h.open = append(h.open, c)
	sent := h.requests.arrived
	go func() {
		defer func() {
			if r := recover(); r != nil {
				c.panic = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
		}()
		c.response = p.serve(ctx, review)
	}()
	r.admitted = version
	h.say("%s is asked about %s", p.Name, r)
	h.settle()
	return h.requests.arrived == sent && slices.Contains(h.requests.waiting, r)
}

func operationOf(r *request) string {
	switch {
	case r.evicts():
		return "EVICT"
	case r.Verb == "delete":
		return "DELETE"
	}
	return "UPDATE"
}

// review returns what the webhook is asked about a request, and for which resourceVersion of the pod. It returns nil if
// the API server refuses the request by itself.
func (h *history) review(r *request) (review *admissionv1.AdmissionRequest, version string) {
	review = &admissionv1.AdmissionRequest{
		Namespace: Web.Namespace, Name: r.Name, Resource: metav1.GroupVersionResource{Version: "v1", Resource: pods}, SubResource: r.Subresource,
		Kind: metav1.GroupVersionKind{Version: "v1", Kind: "Pod"}, UserInfo: authenticationv1.UserInfo{Username: r.process.Name}, DryRun: &r.DryRun,
	}
	if r.evicts() {
		review.Operation, review.Kind.Kind, review.Kind.Group, review.Object.Raw = admissionv1.Create, "Eviction", "policy", r.Body
		return review, "asked"
	}
	before := h.records[pods].objects[r.Name]
	review.OldObject.Raw = raw(before)
	if r.Verb == "delete" {
		review.Operation, review.Options.Raw = admissionv1.Delete, r.Body
		return review, before.GetResourceVersion()
	}
	if after, err := h.server.PodAfter(r.Request); err == nil {
		review.Operation, review.Object = admissionv1.Update, runtime.RawExtension{Raw: raw(after), Object: after}
		return review, before.GetResourceVersion()
	}
	return nil, ""
}

func raw(object runtime.Object) []byte {
	data, err := json.Marshal(object)
	if err != nil {
		panic(err) // never of an object of the API
	}
	return data
}

// answers takes note of the answers that there are, and tells whether there were any. A request that is denied fails.
// An allowed one waits for its turn again.
func (h *history) answers() (any bool) {
	for _, c := range slices.SortedFunc(slices.Values(h.open), func(a, b *call) int {
		return cmp.Compare(a.request.String(), b.request.String())
	}) {
		if c.panic != "" {
			h.violate(invariants.Calm, "%s panics: %s", c.process.Name, c.panic)
		} else if c.response == nil {
			continue
		}
		any = true
		h.closeCall(c)
		if c.response == nil {
			return false
		}
		if c.response.Allowed {
			h.say("%s allows %s", c.process.Name, c.request)
		} else {
			h.say("%s denies %s: %d %s", c.process.Name, c.request, c.response.Result.Code, c.response.Result.Message)
			c.asked.Denial = c.response.Result
		}
		c.asked.Allowed = c.response.Allowed
		h.heard.add(c.asked)
		switch {
		case c.request.process.dead:
		case c.response.Allowed:
			h.requests.waiting = append(h.requests.waiting, c.request)
		default:
			h.sent++
			h.refused++
			h.requests.release(c.request, &apierrors.StatusError{ErrStatus: *c.response.Result})
		}
	}
	return any
}

func (h *history) closeCall(c *call) {
	c.cancel()
	h.open = slices.DeleteFunc(h.open, func(other *call) bool { return other == c })
}

// endCalls ends what a process that has crashed had to do with calls.
func (h *history) endCalls(p *Process) {
	for _, c := range slices.Clone(h.open) {
		switch {
		case c.request.process == p:
			h.requests.release(c.request, errCrash)
			if c.process == p {
				h.closeCall(c)
			}
		case c.process == p:
			h.closeCall(c)
			if c.request.process.dead {
				continue
			}
			h.requests.release(c.request, apierrors.NewInternalError(errors.New("failed calling webhook: EOF")))
		}
	}
}

// end ends a process: its requests come to nothing, its memory is gone.
func (h *history) end(p *Process) {
	p.dead = true
	h.endCalls(p)
	for _, r := range slices.Clone(h.requests.inOrder()) {
		if r.process == p {
			h.requests.release(r, errCrash)
		}
	}
	synctest.Wait()
	if p.cancel != nil {
		p.cancel()
	}
}

func (h *history) podOf(name string) *corev1.Pod {
	pod, _ := h.records[pods].objects[name].(*corev1.Pod)
	return pod
}

// question is what a process is asked about a pod, and its answer.
type question struct {
	invariants.Answer
	process *Process
	failed  int // requests of the process that had failed when it was asked
}

// question begins one. It may be called while processes run.
func (h *history) question(p *Process, by, operation, pod string) *question {
	q := &question{process: p, failed: p.failed}
	q.Answer = invariants.Answer{By: p.Name, For: by, Operation: operation, Name: pod, Budget: Web.Name, Began: time.Now(), Version: h.version}
	cached, since := map[string]int{}, map[string]int{}
	for resource, record := range h.records {
		cached[resource], since[resource] = p.replicas[resource].at, len(record.changes)
	}
	q.Cached = func(resource, name string) []invariants.Object {
		return h.records[resource].from(cached[resource], name)
	}
	q.Truth = func(resource, name string) []invariants.Object {
		return h.records[resource].from(since[resource], name)
	}
	return q
}

// from returns an object as it was after so many changes, and all that became of it since; nil
// stands for none.
func (r *record) from(position int, name string) []invariants.Object {
	first := invariants.Object(nil)
	for i := position - 1; i >= 0; i-- {
		if c := &r.changes[i]; c.object.GetName() == name {
			if !c.gone {
				first = c.object
			}
			break
		}
	}
	all := []invariants.Object{first}
	for i := position; i < len(r.changes); i++ {
		switch c := &r.changes[i]; {
		case c.object.GetName() != name:
		case c.gone:
			all = append(all, nil)
		default:
			all = append(all, c.object)
		}
	}
	return all
}

func (h *history) judgeAnswer(q *question) {
	for _, k := range h.kinds {
		if k.judge.Answer == nil {
			continue
		}
		for _, v := range k.judge.Answer(&q.Answer) {
			h.violate(v.Invariant, "%s: %s", q.By, v.Message)
		}
	}
}

// heard are answers that are still to be judged.
type heard struct {
	lock       sync.Mutex
	all        []*question
	violations []invariants.Violation // that processes have found themselves
}

func (a *heard) violated(all []invariants.Violation) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.violations = append(a.violations, all...)
}

// Asks says that the process asks itself, of its caches, whether it may do something to a pod. The
// function it returns says what came of it.
func (p *Process) Asks(operation string, pod *corev1.Pod) func(allowed bool, err error) {
	h := p.history
	q := h.question(p, p.Name, operation, pod.Name)
	cached := q.Cached
	q.Itself, q.Cached = true, func(resource, name string) []invariants.Object {
		all := cached(resource, name)
		if resource == pods && name == pod.Name {
			all = append([]invariants.Object{pod}, all...)
		}
		return all
	}
	return func(allowed bool, err error) {
		q.Allowed, q.Unknown = allowed, err != nil
		h.heard.add(q)
	}
}

// add takes note of an answer that is given now.
func (a *heard) add(q *question) {
	q.Ended, q.Failed = time.Now(), q.process.failed != q.failed
	a.lock.Lock()
	defer a.lock.Unlock()
	a.all = append(a.all, q)
}

// hear judges the answers that were given, once what was written before is known to the judges.
func (h *history) hear() {
	all := h.heard.all
	h.heard.all = nil
	slices.SortFunc(all, func(a, b *question) int {
		return cmp.Or(cmp.Compare(a.By, b.By), a.Began.Compare(b.Began), cmp.Compare(a.Name, b.Name))
	})
	for _, q := range all {
		if !q.process.dead {
			h.judgeAnswer(q)
		}
	}
}
