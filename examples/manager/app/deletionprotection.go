// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/availability/deletion"
	"github.com/podwright/podwright/examples/process/features"
)

// deletionProtection is a webhook, which answers where its gate is closed too. What --print-policies prints refuses most of the
// same deletions without it.
func deletionProtection(f *pflag.FlagSet) kind {
	more := f.StringSlice("deletion-protection-crds", nil,
		"CRDs, beside those of what the manager runs, that can be deleted with the label policy.kruise.io/delete-protection=Cascading, as the manager may list their objects: like carts.shop.io, or *.shop.io")
	return kind{webhook: func(a *admissions) webhook {
		var listed []schema.GroupResource
		for _, definition := range a.definitions {
			listed = append(listed, schema.ParseGroupResource(definition.GetName()))
		}
		for _, name := range *more {
			listed = append(listed, schema.ParseGroupResource(name))
		}
		return &deletion.Webhook{
			Disabled: !a.gates.Enabled(features.ResourcesDeletionProtection), List: deletion.Metadata(a.metadata), Resources: listed,
		}
	}}
}
