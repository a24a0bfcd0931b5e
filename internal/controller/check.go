// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"fmt"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/record"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/apiwriter"
	"github.com/podwright/podwright/internal/manifests"
)

// Checks collects what is wrong with the options of a package.
type Checks struct {
	// OfReconciler says that the options are those of NewReconciler, not of New.
	OfReconciler bool

	pkg  string
	errs []error
}

// Check returns the Checks of a package's options.
func Check(pkg string) *Checks { return &Checks{pkg: pkg} }

// That adds the text if ok does not hold. Like all checks, it returns the Checks.
func (c *Checks) That(ok bool, text string) *Checks {
	if !ok {
		c.errs = append(c.errs, errors.New(c.pkg+": "+text))
	}
	return c
}

// Problem adds the error of an option, which stands behind a text that names the option. Nil is no problem.
func (c *Checks) Problem(named string, err error) *Checks {
	return c.That(err == nil, fmt.Sprintf("Options.%s%v", named, err))
}

// Client checks a clientset that is to send writes.
func (c *Checks) Client(client kubernetes.Interface) *Checks {
	if err := apiwriter.CheckClient(client); err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: Options.Kubernetes %w", c.pkg, err))
	}
	return c
}

// KindClient checks an option that is a client of an area's kinds.
func (c *Checks) KindClient(option, kinds string, given bool) *Checks {
	return c.That(given, fmt.Sprintf("Options.%s is nil: it needs a client of the %s kinds, client.NewForConfig makes one", option, kinds))
}

// Runtime checks the container runtime of a node's agent.
func (c *Checks) Runtime(given bool) *Checks {
	return c.That(given, "Options.Runtime is nil: it needs the container runtime of the node, nodeagent.Dial connects to it")
}

// PreDownload checks that there is something to pull images ahead with.
func (c *Checks) PreDownload(feature, jobs bool) *Checks {
	return c.That(jobs || !feature, "Options.Jobs is nil, but Options.Features.PreDownload is set: there is nothing to create pull jobs with")
}

// reader checks Options.Reader of a Reconciler.
func (c *Checks) reader(given bool) *Checks {
	return c.That(given, "Options.Reader is nil: a Reconciler reads the caller's caches through it; New makes a controller with caches of its own")
}

// EventRules allows to record events, if the options have a recorder.
func EventRules(o *podwright.ControllerOptions, recorder record.EventRecorder) []rbacv1.PolicyRule {
	return manifests.If(recorder != nil || o.Recorders != nil, manifests.Events())
}

// Err joins what is wrong; nil if nothing is.
func (c *Checks) Err() error { return errors.Join(c.errs...) }

// Holds returns what tells whether there is an object of a name. The first name is looked for in the list, and more of them in
// an index that is made then. This way many cost no more than their number and that of the objects.
func Holds[T metav1.Object](objects []T) func(name string) bool {
	asked := false
	var names map[string]bool
	return func(name string) bool {
		if !asked {
			asked = true
			return slices.ContainsFunc(objects, func(object T) bool { return object.GetName() == name })
		}
		if names == nil {
			names = make(map[string]bool, len(objects))
			for _, object := range objects {
				names[object.GetName()] = true
			}
		}
		return names[name]
	}
}

// HoldsAll and HoldsNone are Holds for what a kind does not read, and for what it has none of.
func HoldsAll(string) bool  { return true }
func HoldsNone(string) bool { return false }

// HoldsOf is the Definition.SnapshotHolds of a kind that creates objects of one resource, which a snapshot lists. others is the
// answer for the other resources.
func HoldsOf[S any, T metav1.Object](resource podwright.Resource, list func(*S) []T, others func(string) bool) func(*S, podwright.Resource) func(string) bool {
	return func(s *S, of podwright.Resource) func(string) bool {
		if of == resource {
			return Holds(list(s))
		}
		return others
	}
}
