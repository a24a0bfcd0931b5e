// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"github.com/podwright/podwright"
	"github.com/podwright/podwright/internal/controller"
	area "github.com/podwright/podwright/sidecar"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// Describe returns what a program takes that runs SidecarSets, for package manager: the options are those of New. A nil webhook is
// not served.
func Describe(o Options, w *Webhook) podwright.Kind {
	k := controller.Describe(component, v1alpha1.SchemeGroupVersion.WithResource("sidecarsets"), o.Namespace, o, New, Rules)
	k.Permissions = append(k.Permissions, controller.In(NamespaceRules(o)))
	k.CRDs, k.Webhooks = area.CRDs, area.Webhooks
	if w != nil {
		k.Admission = controller.Admission(w, w.Rules())
	}
	return k
}

// DescribeInjecting is Describe for a program that injects into new pods, too. It makes the injector, whose caches the webhook of SidecarSets
// reads as well, and returns it for the webhook of pods: podwebhook.Describe(podwebhook.Parts{Sidecars: injector}). Clients,
// ManagerNamespace and Injection are those of the Options, so that controller, webhook and injector cannot differ in them. The
// rest of the AdmissionOptions is as for NewCachedInjector, and what an error says, too.
func DescribeInjecting(o Options, a AdmissionOptions) (podwright.Kind, *CachedInjector, error) {
	a.Kubernetes, a.Sidecar, a.ManagerNamespace, a.Injection = o.Kubernetes, o.Sidecar, o.ManagerNamespace, o.Injection
	injector, err := NewCachedInjector(a)
	if err != nil {
		return podwright.Kind{}, nil, err
	}
	return Describe(o, &Webhook{Reader: injector, Injection: o.Injection}), injector, nil
}
