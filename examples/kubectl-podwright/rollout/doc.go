// SPDX-License-Identifier: Apache-2.0

// Package rollout teaches kubectl's rollout commands the kinds of podwright. Each of those commands leaves what a kind
// needs to a function that can be replaced; [Install] puts those of this package there. They do their part for a
// workload.Object, and leave every other kind to kubectl's own.
package rollout

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/kubectl/pkg/polymorphichelpers"
	"k8s.io/utils/clock"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
	"github.com/podwright/podwright/examples/process/features"
)

// Install replaces the functions of kubectl's rollout commands, for the whole process. Each falls back to the one
// that was there before. Clients are made from the getter, and restarts are dated by the clock. The gates are those that the
// manager is said to have: they decide how partitions are rounded.
func Install(getter genericclioptions.RESTClientGetter, clock clock.PassiveClock, gates func() (*features.Gates, error)) {
	restart, pause, resume := polymorphichelpers.ObjectRestarterFn, polymorphichelpers.ObjectPauserFn, polymorphichelpers.ObjectResumerFn
	polymorphichelpers.ObjectRestarterFn = func(obj runtime.Object) ([]byte, error) {
		if o, ok := obj.(*workload.Object); ok {
			return restarted(o, clock.Now())
		}
		return restart(obj)
	}
	polymorphichelpers.ObjectPauserFn = func(obj runtime.Object) ([]byte, error) {
		if o, ok := obj.(*workload.Object); ok {
			return setPaused(o, true)
		}
		return pause(obj)
	}
	polymorphichelpers.ObjectResumerFn = func(obj runtime.Object) ([]byte, error) {
		if o, ok := obj.(*workload.Object); ok {
			return setPaused(o, false)
		}
		return resume(obj)
	}
	installViewers(getter, gates)
}

func installViewers(getter genericclioptions.RESTClientGetter, gates func() (*features.Gates, error)) {
	status, history, rollback := polymorphichelpers.StatusViewerFn, polymorphichelpers.HistoryViewerFn, polymorphichelpers.RollbackerFn
	polymorphichelpers.StatusViewerFn = func(mapping *meta.RESTMapping) (polymorphichelpers.StatusViewer, error) {
		if !known(mapping.GroupVersionKind) {
			return status(mapping)
		}
		revisions, err := newRevisions(getter, mapping)
		return &statusViewer{revisions, gates}, err
	}
	polymorphichelpers.HistoryViewerFn = func(getter genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (polymorphichelpers.HistoryViewer, error) {
		if !known(mapping.GroupVersionKind) {
			return history(getter, mapping)
		}
		revisions, err := newRevisions(getter, mapping)
		return &historyViewer{revisions}, err
	}
	polymorphichelpers.RollbackerFn = func(getter genericclioptions.RESTClientGetter, mapping *meta.RESTMapping) (polymorphichelpers.Rollbacker, error) {
		if !known(mapping.GroupVersionKind) {
			return rollback(getter, mapping)
		}
		revisions, err := newRevisions(getter, mapping)
		return &rollbacker{revisions}, err
	}
}

func known(kind schema.GroupVersionKind) bool { return workload.KindOf(kind.GroupKind()) != nil }
