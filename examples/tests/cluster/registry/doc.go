// SPDX-License-Identifier: Apache-2.0

// Package registry serves container images that are made on the spot, so that nodes pull for real without any network:
//
//	r, err := registry.Start()
//	if err != nil { … }
//	defer r.Close()
//	err = r.Add("registry.test/app:v1", registry.Image{Env: []string{"VERSION=1"}})
//
// An image holds busybox and what Image asks for, nothing else. It has the name that pods write, with any host: a node's
// container runtime is told to ask this registry whatever the host is. Registry can be slow, refuse, want credentials or
// hold requests until it is told to go on, and it counts.
package registry
