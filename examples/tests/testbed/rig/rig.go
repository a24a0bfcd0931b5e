// SPDX-License-Identifier: Apache-2.0

// Package rig starts a control plane without nodes, for programs that measure.
package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/examples/kit/crds"
	"github.com/podwright/podwright/examples/tests/cluster"
)

// patience is how long Until tries.
const patience = 2 * time.Minute

// Rig is a control plane, and a client of it. The caller stops the control plane.
type Rig struct {
	Control *cluster.Cluster
	Core    kubernetes.Interface
}

// Start starts one that has these CRDs and namespaces, and writes its log.
func Start(ctx context.Context, log io.Writer, definitions []*unstructured.Unstructured, namespaces ...string) (*Rig, error) {
	control, err := cluster.Start(ctx, cluster.Options{Nodes: -1, Log: log})
	if err != nil {
		return nil, err
	}
	r := &Rig{Control: control}
	if err := r.prepare(ctx, definitions, namespaces); err != nil {
		return nil, errors.Join(err, control.Stop())
	}
	return r, nil
}

func (r *Rig) prepare(ctx context.Context, definitions []*unstructured.Unstructured, namespaces []string) (err error) {
	if r.Core, err = kubernetes.NewForConfig(r.Control.Config()); err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(r.Control.Config())
	if err != nil {
		return err
	}
	if err := crds.Install(ctx, client, definitions); err != nil {
		return err
	}
	for _, name := range namespaces {
		of := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := r.Core.CoreV1().Namespaces().Create(ctx, of, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// Until tries again until there is no error, for two minutes at most.
func Until(ctx context.Context, what string, try func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if err == nil || ctx.Err() == nil || last == nil { // once time is over, it is no news that it is
			last = err
		}
		return err == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w, %w", what, err, last)
	}
	return nil
}
