// SPDX-License-Identifier: Apache-2.0

// Package images reads image references as Docker and the container runtimes do
// (nginx means docker.io/library/nginx:latest). It also reads the tasks to pull images that a
// NodeImage holds: whose they are, how far they are, and the patch that changes
// them. And it makes the words of container runtimes and registries fit to be shown to
// those who may read the object that they are about. What a node can do for tenants it divides
// among them. All of it is pure.
package images
