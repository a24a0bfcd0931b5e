// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/internal/testing/simulation/invariants"
)

// caller is a user whose requests wait for their turn, as those of controllers do.
type caller struct {
	*Process
	kube   kubernetes.Interface
	busy   bool
	what   string
	done   bool
	err    error
	answer func(error) // what to do about it; nil for nothing
}

// ask sends a request in the name of a user who waits for no other. The trace tells what
// comes of it.
func (h *history) ask(what string, send func(context.Context, kubernetes.Interface) error, answer func(error)) {
	c := h.freeCaller()
	c.busy, c.done, c.what, c.answer = true, false, what, answer
	h.say("%s: %s", c.Name, what)
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	go func() {
		c.err = send(ctx, c.kube)
		c.done = true
	}()
	h.settle()
}

func (h *history) freeCaller() *caller {
	for _, c := range h.callers {
		if !c.busy {
			return c
		}
	}
	c := &caller{Process: h.newProcess(fmt.Sprint("user-", len(h.callers)+1), &kind{Subject: h.workload})}
	var err error
	c.kube, err = c.Kubernetes()
	h.must(err)
	h.callers = append(h.callers, c)
	return c
}

// hearCallers tells what has come of requests of users, and whether anything has.
func (h *history) hearCallers() (any bool) {
	for _, c := range h.callers {
		if !c.busy || !c.done {
			continue
		}
		any, c.busy = true, false
		c.cancel()
		if c.err != nil {
			h.say("%s: %s, and is refused: %v", c.Name, c.what, c.err)
		}
		if c.answer != nil {
			c.answer(c.err)
		}
	}
	return any
}

func (h *history) underWay() bool {
	return len(h.open) > 0 || slices.ContainsFunc(h.callers, func(c *caller) bool { return c.busy })
}

// AskDelete deletes a pod when the request has its turn, perhaps as a dry run.
func (u *User) AskDelete(pod *corev1.Pod, dryRun bool) {
	options, how := dry(dryRun)
	u.history.ask(fmt.Sprintf("deletes pod %s%s", pod.Name, how), func(ctx context.Context, kube kubernetes.Interface) error {
		return kube.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, *options)
	}, nil)
}

// insistsAgain is after how long a controller that is denied a deletion asks again.
const insistsAgain = 30 * time.Second

// Insist deletes a pod as AskDelete, and not again within insistsAgain: so controllers back off. It does not while everything settles
// under a policy that refuses it: what a webhook notes each time would never settle.
func (u *User) Insist(pod *corev1.Pod) {
	h := u.history
	refused := h.policiesStay && slices.Contains(h.refusals(), invariants.Refusal{Verb: "delete", Resource: pods})
	if last, asked := h.insisted[pod.UID]; refused || asked && time.Since(last) < insistsAgain {
		return
	}
	h.insisted[pod.UID] = time.Now()
	u.AskDelete(pod, false)
}

// AskEvict evicts a pod when the request has its turn, perhaps as a dry run.
func (u *User) AskEvict(pod *corev1.Pod, dryRun bool) {
	options, how := dry(dryRun)
	u.history.evict(pod, options, how, nil)
}

// dry returns the options of a dry run, and what the trace says of it; or of none.
func dry(run bool) (options *metav1.DeleteOptions, how string) {
	if run {
		return &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}}, " (dry run)"
	}
	return &metav1.DeleteOptions{}, ""
}

func (h *history) evict(pod *corev1.Pod, options *metav1.DeleteOptions, how string, answer func(error)) {
	h.ask(fmt.Sprintf("evicts pod %s%s", pod.Name, how), func(ctx context.Context, kube kubernetes.Interface) error {
		return kube.CoreV1().Pods(pod.Namespace).EvictV1(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name}, DeleteOptions: options})
	}, answer)
}

// AskPatch changes a pod by a strategic-merge patch when the request has its turn.
func (u *User) AskPatch(pod *corev1.Pod, patch string) { u.askPatch("patches", pod, patch) }

func (u *User) askPatch(what string, pod *corev1.Pod, patch string, subresources ...string) {
	u.history.ask(fmt.Sprintf("%s pod %s %s", what, pod.Name, patch), func(ctx context.Context, kube kubernetes.Interface) error {
		api := kube.CoreV1().Pods(pod.Namespace)
		_, err := api.Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
		return err
	}, nil)
}

// AskResize changes cpu and memory of a container of a pod when the request has its turn.
func (u *User) AskResize(pod *corev1.Pod, container, resources string) {
	u.askPatch("resizes", pod, fmt.Sprintf(`{"spec":{"containers":[{"name":%q,"resources":%s}]}}`, container, resources), "resize")
}

// drain is a user who tries to evict a pod until it is gone.
type drain struct {
	pod    *corev1.Pod
	asking bool
	next   time.Time // when it is tried again
}

// tryAgain is how long a drain waits after a refusal, as kubectl does.
const tryAgain = 5 * time.Second

// Drain evicts a pod, again and again until it is gone. The trace tells.
func (u *User) Drain(pod *corev1.Pod) {
	h := u.history
	if h.drains[pod.UID] != nil {
		return
	}
	d := &drain{pod: pod}
	h.drains[pod.UID] = d
	h.drain(d)
}

func (h *history) drain(d *drain) {
	d.asking = true
	h.evict(d.pod, metav1.NewPreconditionDeleteOptions(string(d.pod.UID)), ", to drain its node", func(err error) {
		d.asking, d.next = false, time.Now().Add(tryAgain)
		if err == nil || apierrors.IsNotFound(err) {
			delete(h.drains, d.pod.UID)
		}
	})
}

// drainsInOrder are the drains that go on, in an order that depends on nothing but the pods.
func (h *history) drainsInOrder() []*drain {
	for uid, d := range h.drains {
		if pod := h.podOf(d.pod.Name); !d.asking && (pod == nil || pod.UID != uid) {
			delete(h.drains, uid)
		}
	}
	return slices.SortedFunc(maps.Values(h.drains), func(a, b *drain) int { return cmp.Compare(a.pod.Name, b.pod.Name) })
}

// drainOn lets a user try again to evict a pod, or end with an error.
func (h *history) drainOn(r *rand.Rand) {
	list := h.drainsInOrder()
	if len(list) == 0 {
		return
	}
	d := list[r.IntN(len(list))]
	switch {
	case d.asking:
		return
	case r.IntN(12) == 0:
		h.say("no user evicts pod %s any more", d.pod.Name)
		delete(h.drains, d.pod.UID)
		return
	}
	h.drain(d)
}

// longestDrain is how long a drain may last in the end, when nothing else disturbs.
const longestDrain = 30 * time.Minute

// drainAll lets all try again whose time has come.
func (h *history) drainAll() {
	for _, d := range h.drainsInOrder() {
		if d.asking || time.Now().Before(d.next) {
			continue
		}
		if time.Now().After(h.drainedBy) {
			h.violate(invariants.Settled, "pod %s cannot be evicted for %v", d.pod.Name, longestDrain)
			return
		}
		h.drain(d)
	}
}
