// Package terraform has Terraform and its AWS provider import, make, change and remove what people declare: queues,
// topics, subscriptions, policies, alarms, dashboards, trails, users and roles. The server is a process of its own.
// After each change the provider must find exactly the settings that it made. It must also find what was deleted
// behind its back.
//
// The programs are not fetched. The test says which one it lacks.
package terraform
