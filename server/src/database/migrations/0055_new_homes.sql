-- How many more volumes for files a host has room for, as its driver reported last; null: any number (G200).

alter table hosts add column new_homes integer;
