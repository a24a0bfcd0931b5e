// SPDX-License-Identifier: Apache-2.0

package persistentpodstate

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/podwright/podwright/distribution/internal/whitelist"
	"github.com/podwright/podwright/distribution/podstate"
)

// WhitelistRules returns the RBAC rules for a Role in the namespace of the white list that reading it takes.
func WhitelistRules() []rbacv1.PolicyRule { return whitelist.Rules() }

// ReadWhitelist reads the white list from the API server; nil if there is none. It takes WhitelistRules. (PPS-2)
func ReadWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (podstate.Whitelist, error) {
	return whitelist.Read(ctx, client, namespace, podstate.ReadWhitelist)
}

// AwaitWhitelist is ReadWhitelist for the start of a program. It waits for an API server that does not answer, and goes without
// a white list that is none, which the log says. It returns an error only when the context is done.
func AwaitWhitelist(ctx context.Context, client kubernetes.Interface, namespace string) (podstate.Whitelist, error) {
	return whitelist.Await(ctx, client, namespace, podstate.ReadWhitelist)
}

// CustomKinds returns what Options.Custom takes. Of a white list these are the kinds that the API server serves, and
// that the client's user may list and watch in a namespace. An empty namespace stands for all. Of the others, whose
// caches would never be filled, the log says why they are left out. It takes no rule that not every user has. (PPS-2,
// PPS-24)
func CustomKinds(ctx context.Context, client kubernetes.Interface, list podstate.Whitelist, namespace string) (kinds []CustomKind, err error) {
	for _, kind := range list {
		if (podstate.Whitelist{}).Allows(kind.GroupKind()) {
			continue // it is known anyway
		}
		resource, err := whitelist.Resource(ctx, client, kind, namespace, "PersistentPodStates")
		if err != nil {
			return nil, err
		}
		if resource != "" {
			kinds = append(kinds, CustomKind{Kind: kind, Resource: resource})
		}
	}
	return kinds, nil
}
