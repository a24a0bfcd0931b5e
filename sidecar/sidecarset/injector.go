// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// InjectionMetrics receives what an Injector measures. Implementations must be safe for use
// by several goroutines.
type InjectionMetrics interface {
	// Injected is called for every new pod that SidecarSets may match. It gets the names of those
	// that did, how long it took, and the error with which the pod was refused.
	Injected(sets []string, took time.Duration, err error)
}

// Injector injects sidecars into pods that are about to be created.
type Injector struct {
	// Reader reads SidecarSets, namespaces and revisions. Required; without it every pod
	// is refused.
	Reader AdmissionReader
	// Clock gives the time that is written into pods. Default: the real one.
	Clock clock.PassiveClock
	// Lot draws a number from 0 to below 1. Each pod has one for each SidecarSet that injects an earlier revision into
	// a part of the pods. Default: at random.
	Lot func() float64
	// Metrics defaults to none.
	Metrics InjectionMetrics
	// Recorder receives events about SidecarSets. Default nil: no events.
	Recorder record.EventRecorder
	// Injection switches what differs between releases.
	Injection injection.Features
}

// Mutate injects into a pod what the SidecarSets that match it have for it. It is a step
// of podwebhook.Webhook: Sidecars. An error refuses the pod, with the code 500, and names
// the SidecarSet. Once it has injected, a second call changes nothing. (SCS-W5)
func (i *Injector) Mutate(ctx context.Context, request *admissionv1.AdmissionRequest, pod *corev1.Pod) error {
	if request.Operation != admissionv1.Create {
		return nil
	}
	if i.Reader == nil {
		return errors.New("sidecars cannot be injected: Injector.Reader is nil")
	}
	clock := i.clock()
	start := clock.Now()
	input, err := i.observe(ctx, request.Namespace, pod)
	if err == nil && len(input.SidecarSets) == 0 {
		return nil
	}
	var result *injection.Result
	if err == nil {
		result, err = injection.Inject(*input)
	}
	if err != nil {
		// whatever code the answer to a read had, it is not the pod that is not found
		err = apierrors.NewInternalError(fmt.Errorf("inject sidecars: %w", err))
	} else if result.Pod != pod {
		*pod = *result.Pod
		i.recordKept(input, result, request)
	}
	if i.Metrics != nil {
		i.Metrics.Injected(matching(result), clock.Since(start), err)
	}
	return err
}

// recordKept tells of annotations that could not be merged, unless nothing is to come of the request. (SCI-5)
func (i *Injector) recordKept(in *injection.Input, result *injection.Result, request *admissionv1.AdmissionRequest) {
	if i.Recorder == nil || request.DryRun != nil && *request.DryRun {
		return
	}
	for s := range result.SidecarSets {
		of := &result.SidecarSets[s]
		for _, kept := range of.Kept {
			i.Recorder.Eventf(referenceTo(in.SidecarSets, of.Name), corev1.EventTypeWarning, eventNotMerged, "a pod of namespace %s: %s", request.Namespace, apiwriter.Short(kept.Error()))
		}
	}
}

// referenceTo refers to a SidecarSet: recorders need not know its kind.
func referenceTo(sets []*v1alpha1.SidecarSet, name string) *corev1.ObjectReference {
	r := &corev1.ObjectReference{APIVersion: v1alpha1.SchemeGroupVersion.String(), Kind: kind, Name: name}
	for _, set := range sets {
		if set != nil && set.Name == name {
			r.UID, r.ResourceVersion = set.UID, set.ResourceVersion
		}
	}
	return r
}

func (i *Injector) clock() clock.PassiveClock {
	if i.Clock == nil {
		return clock.RealClock{}
	}
	return i.Clock
}

// matching names the SidecarSets that match.
func matching(result *injection.Result) (names []string) {
	if result == nil {
		return nil
	}
	for s := range result.SidecarSets {
		if result.SidecarSets[s].Skipped == "" {
			names = append(names, result.SidecarSets[s].Name)
		}
	}
	return names
}

// observe reads what an injection depends on: the namespace if a namespaceSelector asks
// for it, and the revisions of SidecarSets that want one and match.
func (i *Injector) observe(ctx context.Context, namespace string, pod *corev1.Pod) (*injection.Input, error) {
	if pod.Namespace != "" {
		namespace = pod.Namespace
	}
	in := &injection.Input{Pod: pod, Features: i.Injection, Now: i.clock().Now()}
	var err error
	if in.SidecarSets, err = i.Reader.SidecarSetsFor(ctx, namespace, pod.Labels); err != nil {
		return nil, fmt.Errorf("read the SidecarSets: %w", err)
	}
	in.Namespace = &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	for _, set := range in.SidecarSets {
		if set.Spec.NamespaceSelector == nil {
			continue
		}
		if in.Namespace, err = i.Reader.Namespace(ctx, namespace); err != nil {
			return nil, fmt.Errorf("read namespace %s, which SidecarSet %s selects by its labels: %w", namespace, set.Name, err)
		}
		break
	}
	for _, set := range in.SidecarSets {
		if !injection.NamesRevision(set) || injection.Matches(set, pod, in.Namespace) != "" {
			continue
		}
		revisions, err := i.Reader.Revisions(ctx, set.Name)
		if err != nil {
			return nil, fmt.Errorf("read the revisions of SidecarSet %s: %w", set.Name, err)
		}
		in.Revisions = append(in.Revisions, revisions...)
		if injection.Partial(set) {
			if in.Lots == nil {
				in.Lots = map[string]float64{}
			}
			in.Lots[set.Name] = i.lot()
		}
	}
	return in, nil
}

// lot draws by lot. (SCS-31)
func (i *Injector) lot() float64 {
	if i.Lot == nil {
		return rand.Float64()
	}
	return i.Lot()
}
